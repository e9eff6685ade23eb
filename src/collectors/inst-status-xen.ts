// Whether the node's Xen instances are as they should be.
import { CONFD } from '../rpc/confd/protocol'
import {
  type Collector,
  CollectorFailure,
  type NodeSources,
  OK,
  type Status,
  fieldsOf,
  listOf,
  summary,
} from './report'
import { type XenDomain, parseDomains, parseUptimes } from './xen-text'
import { errorText } from '../lib/system-failure'

export const instStatusXen: Collector = {
  ...{ name: 'inst-status-xen', category: 'instance', kind: 'status' },
  help: 'whether the instances are as they should be',
  asksConfd: true,
  open: (sources) => ({ collect: () => collect(sources) }),
}

async function collect(sources: NodeSources): Promise<unknown> {
  const [primaries] = await nodeInstances(sources)
  const real = listOf(primaries)
    .map(fieldsOf)
    .filter(({ forthcoming }) => forthcoming !== true)
  let domains: Domains
  try {
    domains = await listDomains(sources)
  } catch (error) {
    const text = errorText(error)
    return { instances: [], status: { code: 4, message: `Unable to receive the list of instances: ${text}` } }
  }
  const uptimes = parseUptimes(await sources.run(['xl', 'uptime']))
  const reasons = await Promise.all(real.map(({ name }) => reasonOf(sources, String(name))))
  const instances = real.map((instance, at) => {
    const { name, uuid, admin_state, mtime } = instance
    const domain = domains.get(String(name))
    const actualState = actual(String(admin_state), domain)
    return {
      ...{ name, uuid, adminState: admin_state, actualState },
      ...{ uptime: (domain && uptimes.get(domain.id)) ?? null, mtime },
      state_reason: reasons[at],
      status: judge(String(admin_state), actualState),
    }
  })
  return { instances, status: summary(instances.map(({ status }) => status)) }
}

async function nodeInstances(sources: NodeSources): Promise<readonly unknown[]> {
  try {
    return listOf(await sources.ask(CONFD.nodeInstances, sources.hostname))
  } catch (error) {
    const text = errorText(error)
    throw new CollectorFailure(`Can't get instance info from ConfD: ${text}`)
  }
}

type Domains = ReadonlyMap<string, XenDomain & { readonly hung: boolean }>

/** Asked twice: a domain that used no CPU time in between hangs; of one that went away meanwhile nothing is known. */
async function listDomains(sources: NodeSources): Promise<Domains> {
  const ask = async () => parseDomains(await sources.run(['xl', 'list', '--long']))
  const [first, second] = [await ask(), await ask()]
  const later = new Map(second.map((domain) => [domain.name, domain.cpuTime]))
  return new Map(
    first.map((domain) => {
      const after = later.get(domain.name)
      const state = after === undefined ? 'unknown' : domain.state
      return [domain.name, { ...domain, state, hung: after === domain.cpuTime }]
    }),
  )
}

function actual(adminState: string, domain: (XenDomain & { readonly hung: boolean }) | undefined): string {
  if (domain === undefined) return adminState === 'down' ? 'shutdown' : 'unknown'
  return domain.hung ? 'hung' : domain.state
}

function judge(adminState: string, actualState: string): Status {
  if (adminState === 'down') {
    if (['shutdown', 'dying'].includes(actualState)) return OK
    return { code: 4, message: 'The instance is not stopped as it should be' }
  }
  if (adminState === 'offline') return { code: 2, message: 'The instance is marked as offline' }
  if (actualState === 'hung') {
    return { code: 2, message: 'Instance marked as running, but it appears to be hung' }
  }
  if (['running', 'blocked'].includes(actualState)) return OK
  return { code: 4, message: 'The instance is not running as it should be' }
}

async function reasonOf(sources: NodeSources, instance: string): Promise<unknown> {
  const file = `${sources.instanceReasonDir}/${instance}`
  try {
    return JSON.parse(await sources.read(file)) as unknown
  } catch {
    sources.warn(`no reason of the state of the instance can be read from ${file}`)
    return []
  }
}
