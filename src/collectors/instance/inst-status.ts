// Whether the node's instances have their wanted state, for all hypervisors. Distinguishes a crash from a requested
// stop.
import { errorText } from '../../lib/system-failure'
import { nodeInstances } from '../configuration'
import { kvmProcesses } from '../kvm-processes'
import { uptimeOf } from '../processes'
import { isGuestElsewhere } from '../../model/guest-state'
import { type Collector, type NodeSources, type Status, ssconf, summary } from '../report'
import { about, list, record, status, text } from '../shapes'
import { reasonTrail } from './reasons'
import { INSTANCE_CODES, INSTANCE_FIELDS, absent, allowsUserShutdown, domainState, judge, uptimeText } from './states'
import { domainUptimes, listDomains } from './xen-domains'

export const instStatus: Collector = {
  ...{ name: 'inst-status', category: 'instance', kind: 'status' },
  help: 'whether the instances are as they should be',
  asksConfd: true,
  ...{ interval_s: 5, cost_ms: 20 },
  shape: record({
    instances: list(record({ ...INSTANCE_FIELDS, hypervisor: about('what runs it', text) })),
    status,
  }),
  codes: {
    ...INSTANCE_CODES,
    1: 'the user of an instance shut it down from inside, and it will be started again',
  },
  open: (sources) => ({ collect: () => collect(sources) }),
}

async function collect(sources: NodeSources): Promise<unknown> {
  const { primary } = await nodeInstances(sources)
  const names = new Set(primary.map(({ hypervisor }) => String(hypervisor)))
  const views = new Map(await Promise.all([...names].map(async (name) => [name, await viewOf(sources, name)] as const)))
  const userMayStop = allowsUserShutdown(await ssconf(sources, 'enabled_user_shutdown'))
  const instances = await Promise.all(
    primary.map(async ({ name, uuid, hypervisor, admin_state, mtime }) => {
      const trail = await reasonTrail(sources, String(name))
      const view = views.get(String(hypervisor))
      const observed = typeof view === 'string' || view === undefined ? undefined : (view.get(String(name)) ?? GONE)
      const desired = String(admin_state)
      const judged = observed === undefined ? unseen(String(view)) : judgeSeen(desired, observed, trail, userMayStop)
      return {
        ...{ name, uuid, hypervisor, adminState: admin_state, actualState: judged.state },
        ...{ uptime: observed?.uptime ?? null, mtime, state_reason: trail, status: judged.status },
      }
    }),
  )
  const worded = instances.map(({ name, status: { code, message } }) =>
    message === '' ? { code, message } : { code, message: `${String(name)}: ${message}` },
  )
  return { instances, status: summary(worded) }
}

interface Seen {
  readonly state: string
  /** QEMU's name for the state, if known. */
  readonly machine?: string | undefined
  readonly uptime: string | null
}

const GONE: Seen = { state: 'gone', uptime: null }
/** QEMU states in which the guest stands still. */
const STANDS_STILL: Readonly<Record<string, string>> = {
  ...{ paused: 'paused', suspended: 'paused', prelaunch: 'paused', 'io-error': 'paused', watchdog: 'paused' },
  ...{ 'guest-panicked': 'crashed', 'internal-error': 'crashed' },
}
/** Its user shut it down from inside. */
const USER_DOWN = 'user-down'
/** A migration takes it to another node, or has not brought it yet. */
const ELSEWHERE = 'elsewhere'

/** A hypervisor's report of all its instances, or a text that says why there is none. */
async function viewOf(sources: NodeSources, hypervisor: string): Promise<ReadonlyMap<string, Seen> | string> {
  try {
    if (hypervisor.startsWith('xen-')) return await xenView(sources)
    const backEnd = sources.backEnd(hypervisor)
    const [all, uptimes] = await Promise.all([
      backEnd.allInfo(),
      hypervisor === 'kvm' ? kvmUptimes(sources) : new Map<string, string>(),
    ])
    return new Map(
      [...all].map(([name, runtime]) => {
        const { state, machine_state: machine } = runtime
        const running = machine === undefined ? 'running' : (STANDS_STILL[machine] ?? 'running')
        const here = isGuestElsewhere(runtime) ? ELSEWHERE : running
        return [name, { state: state === 0 ? here : USER_DOWN, machine, uptime: uptimes.get(name) ?? null }]
      }),
    )
  } catch (error) {
    return `The instances of ${hypervisor} cannot be listed: ${errorText(error)}`
  }
}

async function xenView(sources: NodeSources): Promise<ReadonlyMap<string, Seen>> {
  const [domains, uptimes] = [await listDomains(sources), await domainUptimes(sources)]
  return new Map(
    [...domains].map(([name, domain]) => {
      return [name, { state: domainState('up', domain), uptime: uptimes.get(domain.id) ?? null }]
    }),
  )
}

async function kvmUptimes(sources: NodeSources): Promise<ReadonlyMap<string, string>> {
  const found = [...(await kvmProcesses(sources))].map(async ([name, facts]) => {
    return [name, uptimeText(await uptimeOf(sources, facts))] as const
  })
  return new Map(await Promise.all(found))
}

interface Judged {
  readonly state: string
  readonly status: Status
}

const unseen = (why: string): Judged => ({ state: 'unknown', status: { code: 2, message: why } })

const withMachine = ({ code, message }: Status, machine: string | undefined): Status => ({
  code,
  message: code === 0 || machine === undefined ? message : `${message}: QEMU says ${machine}`,
})

function judgeSeen(desired: string, observed: Seen, trail: readonly unknown[], userMayStop: boolean): Judged {
  const ended = observed === GONE || observed.state === USER_DOWN
  if (observed.state === ELSEWHERE && desired !== 'offline') {
    const message = `A migration of the instance has not ended here: QEMU says ${observed.machine}`
    return { state: 'unknown', status: { code: 2, message } }
  }
  if (desired !== 'up' || !ended) {
    const state = ended ? 'shutdown' : observed.state
    return { state, status: withMachine(judge(desired, state), state === 'running' ? undefined : observed.machine) }
  }
  if (observed === GONE) return absent(trail)
  const message = 'The user of the instance shut it down from inside'
  return { state: 'shutdown', status: { code: userMayStop ? 0 : 1, message: userMayStop ? '' : message } }
}
