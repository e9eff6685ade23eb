// This node's daemons: which should run and do run, what they use, and whether they were restarted.
import { DAEMON_CALM_S, DAEMON_RESTARTS_COUNTED, DAEMON_START_S } from '../../model/limits/collectors'
import { type Place, type Role, wantedLines } from '../../roles/role'
import { ROLES } from '../../roles/table'
import { type ProcessFacts, nodeUptime, processFacts } from '../processes'
import { type Collector, type NodeSources, OK, type Status, readIfThere, ssconf, summary } from '../report'
import { about, dict, flag, float, int, list, maybe, record, status, text } from '../shapes'

export const daemons: Collector = {
  ...{ name: 'daemons', category: 'daemon', kind: 'status' },
  help: 'what the daemons use, and whether they run',
  ...{ interval_s: 10, cost_ms: 5, stateful: true },
  shape: record({
    status,
    daemons: list(
      record({
        ...{ name: text, program: text, running: flag, pid: maybe(int), uptime_s: maybe(float) },
        cpu_s: about('processor time since it was started', maybe(float)),
        cpu_load: about('processor seconds per second since the last look', maybe(float)),
        ...{ memory_bytes: maybe(int), memory_peak_bytes: maybe(int), threads: maybe(int), open_files: maybe(int) },
        figures: about('what it tells of itself, by name: what it has to do, and has done', maybe(dict(float))),
        restarts: about('how often it was seen to have been started again', int),
        status,
      }),
    ),
  }),
  codes: {
    0: 'every daemon that this node should have runs',
    1: `a daemon was started again less than ${DAEMON_CALM_S / 60} minutes ago`,
    2: 'a daemon runs and does not answer',
    4: 'a daemon that this node should have does not run',
  },
  open(sources) {
    const past: Past = { seen: new Map(), opened_ms: sources.clock.monotonic_ms() }
    return { collect: () => collect(sources, past) }
  },
}

interface Past {
  readonly seen: Map<string, Seen>
  readonly opened_ms: number
}

/** A daemon at the last look. */
interface Seen {
  readonly facts: ProcessFacts | undefined
  readonly at_ms: number
  readonly restarts: number
  readonly restarted_ms: number
}

async function collect(sources: NodeSources, { seen: observed, opened_ms }: Past): Promise<unknown> {
  const places = await placesHere(sources)
  const roles: readonly Role[] = ROLES
  const desired = await Promise.all(roles.map((role) => isWanted(sources, role)))
  const other = sources.simulated === true ? 'real' : 'simulated'
  const [now_ms, up_s] = [sources.clock.monotonic_ms(), await nodeUptime(sources)]
  const isStarting = now_ms - opened_ms < DAEMON_START_S * 1000
  const found = await Promise.all(
    roles
      .filter(({ nodes }, at) => nodes !== other && desired[at] === true)
      .filter(({ place }) => places.includes(place) || place === 'system')
      .map(async (role) => {
        const facts = await daemonProcess(sources, role)
        const before = observed.get(role.name)
        const now = following(before, facts, now_ms)
        observed.set(role.name, now)
        const [memory, own] = await Promise.all([memoryOf(sources, facts), ownFigures(sources, role, facts)])
        return { role, facts, before, now, memory, own }
      }),
  )
  const daemons = found.map(({ role, facts, before, now, memory, own }) => ({
    ...{ name: role.name, program: role.program, running: facts !== undefined, pid: facts?.pid ?? null },
    uptime_s: facts === undefined ? null : Math.max(0, up_s - facts.started_s),
    ...{ cpu_s: facts?.cpu_s ?? null, cpu_load: loadSince(before, now), ...memory },
    ...{
      threads: facts?.threads ?? null,
      figures: own === 'no answer' ? null : (own ?? null),
      restarts: now.restarts,
      status: own === 'no answer' ? silent(role) : judge(role, facts, now, { now_ms, isStarting }),
    },
  }))
  return { status: summary(daemons.map((one) => one.status)), daemons }
}

/** A daemon that is stopped or hangs does not return them. */
async function ownFigures(sources: NodeSources, { name }: Role, facts: ProcessFacts | undefined) {
  return facts && (await sources.figures?.(name).catch(() => 'no answer' as const))
}

const silent = ({ name }: Role): Status => ({ code: 2, message: `${name} runs, and does not answer` })

/** Some roles run only in clusters whose ssconf files say so; others only on demand. */
async function isWanted(sources: NodeSources, role: Role): Promise<boolean> {
  const { name, place } = role
  // The pid file exists until the daemon is stopped, and stays when it is killed.
  if (place === 'demand' && (await readIfThere(sources, sources.paths.pidFile(name))) === undefined) return false
  const found = await Promise.all(
    wantedLines(role, sources.hostname).map(async ([key, line]) => (await ssconf(sources, key)).includes(line)),
  )
  return found.every((one) => one)
}

async function placesHere(sources: NodeSources): Promise<readonly Place[]> {
  const [masters, candidates] = [await ssconf(sources, 'master_node'), await ssconf(sources, 'master_candidates')]
  const { hostname } = sources
  return [
    'node',
    'demand',
    ...(candidates.includes(hostname) ? (['candidate'] as const) : []),
    ...(masters.includes(hostname) ? (['master'] as const) : []),
  ]
}

/** Another process may have the number in the file by now. A daemon's arguments or title name its role. */
async function daemonProcess(sources: NodeSources, { name, program }: Role): Promise<ProcessFacts | undefined> {
  const pid = Number(await readIfThere(sources, sources.paths.pidFile(name)))
  if (!Number.isInteger(pid) || pid <= 0) return undefined
  const command = (await readIfThere(sources, `/proc/${pid}/cmdline`).catch(() => undefined)) ?? ''
  return command.includes(program) ? processFacts(sources, pid) : undefined
}

function following(before: Seen | undefined, facts: ProcessFacts | undefined, at_ms: number): Seen {
  const again = before?.facts !== undefined && facts !== undefined && !isSame(before.facts, facts)
  return {
    // A missing daemon will be restarted, so its last data is kept.
    ...{ facts: facts ?? before?.facts, at_ms },
    restarts: Math.min((before?.restarts ?? 0) + (again ? 1 : 0), DAEMON_RESTARTS_COUNTED),
    restarted_ms: again ? at_ms : (before?.restarted_ms ?? -Infinity),
  }
}

const isSame = (a: ProcessFacts, b: ProcessFacts): boolean => a.pid === b.pid && a.started_s === b.started_s

function loadSince(before: Seen | undefined, { facts, at_ms }: Seen): number | null {
  if (before?.facts === undefined || facts === undefined || !isSame(before.facts, facts)) return null
  const elapsed_s = (at_ms - before.at_ms) / 1000
  return elapsed_s > 0 ? (facts.cpu_s - before.facts.cpu_s) / elapsed_s : null
}

const KIB = 1024

async function memoryOf(sources: NodeSources, facts: ProcessFacts | undefined) {
  const none = { memory_bytes: null, memory_peak_bytes: null, open_files: null }
  const text = facts && (await readIfThere(sources, `/proc/${facts.pid}/status`).catch(() => undefined))
  if (facts === undefined || text === undefined) return none
  const kib = (key: string) => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0)
  const files = await sources.list(`/proc/${facts.pid}/fd`).catch(() => [])
  return { memory_bytes: kib('VmRSS') * KIB, memory_peak_bytes: kib('VmHWM') * KIB, open_files: files.length }
}

interface Moment {
  readonly now_ms: number
  /** The daemons of a node start together, and mond is not the last one. */
  readonly isStarting: boolean
}

function judge(
  { name, place }: Role,
  facts: ProcessFacts | undefined,
  now: Seen,
  { now_ms, isStarting }: Moment,
): Status {
  // If a service manager starts each daemon, they have no common parent.
  if (facts === undefined)
    return place === 'system' || (isStarting && now.facts === undefined)
      ? OK
      : { code: 4, message: `${name} does not run, and should on this node` }
  return now_ms - now.restarted_ms < DAEMON_CALM_S * 1000 ? { code: 1, message: `${name} was started again` } : OK
}
