// Asks the nodes for their self-diagnosis, as often as they make one, and notes their reports.
import { createHash } from 'node:crypto'
import { canonicalJson } from '../lib/text/canonical-json'
import type { Clock } from '../lib/clock'
import { seconds } from '../lib/clock'
import { isObject, type JsonObject } from '../lib/shapes/shape'
import { slices } from '../lib/work/slices'
import { errorText } from '../lib/system-failure'
import { recordValues } from '../config/records'
import type { ConfigData, Node } from '../model/config'
import {
  ASKED_AT_ONCE,
  DIAGNOSE_ANSWER_BYTES_MAX,
  DIAGNOSE_ANSWER_S,
  FLAPPING_CHANGES,
  FLAPPING_S,
} from '../model/limits/maintenance'
import { PROBLEMS_KEY, REPORTED_KEY, reportedOf } from '../model/maintenance'
import type { Random } from '../lib/random'
import type { AskMond } from '../rpc/mond/endpoints'
import { observe, remembered } from './event-lifecycle'
import type { StateStore } from './state-store'
import { readDiagnosis } from './read-diagnosis'

export interface WatchOptions {
  readonly memory: StateStore
  readonly clock: Clock
  readonly random: Pick<Random, 'uuid'>
  readonly ask: AskMond
  config(): ConfigData
  /** The key that signs reports. */
  key(): Promise<string>
}

const DIAGNOSE = '/1/report/node/diagnose'
const LOAD = '/1/report/default/cpu-avg-load'

interface Heard {
  readonly time_ns: number
  readonly digest: string
  /** The last few times when the report changed. */
  readonly changed_s: readonly number[]
}

export class NodeWatch {
  /** The last report of each node, by uuid. */
  private readonly last = new Map<string, Heard>()

  constructor(private readonly options: WatchOptions) {}

  /** Seconds between two looks. */
  interval_s(): number {
    const { interval } = this.options.config().cluster.data_collectors['diagnose'] ?? { interval: 30e6 }
    return Math.max(1, interval / 1e6)
  }

  async look(): Promise<void> {
    const { memory, config, clock, random } = this.options
    // Without a diagnosis program every node is well, so none is asked.
    if (memory.settings().diagnose_command === '' && memory.read().events.length === 0)
      return void (await this.tellProblems({}))
    const nodes = recordValues(config().nodes)
    const { reports, problems, news } = await this.askAll(nodes)
    const tags = new Map(nodes.map((node) => [String(node.uuid), node.tags]))
    for (const uuid of this.last.keys()) if (!tags.has(uuid)) this.last.delete(uuid)
    // Written before anything is done about them, so that a successor recognizes a replay.
    if (news.size > 0)
      await memory.put(
        REPORTED_KEY,
        Object.fromEntries([...this.reported(), ...news].filter(([uuid]) => tags.has(uuid))),
      )
    const flapping = nodes.filter(({ uuid }) => this.flaps(uuid))
    // A flapping node's report may change in a moment: nothing begins for it, and nothing is forgotten.
    for (const { uuid } of flapping) reports.delete(uuid)
    let overfull: readonly string[] = []
    await memory.update((now) => {
      const noted = observe(remembered(now.events, reports, { tags }), reports, {
        now_s: seconds(clock),
        newId: () => random.uuid(),
      })
      overfull = noted.overfull
      return { ...now, events: noted.events }
    })
    const full = nodes.filter(({ uuid }) => overfull.includes(uuid))
    const withReason = (some: readonly Node[], why: string) => Object.fromEntries(some.map(({ name }) => [name, why]))
    await this.tellProblems({
      ...problems,
      ...withReason(full, 'it reports something else again and again; further events are not noted'),
      ...withReason(
        flapping,
        `it flaps: what it reports changed ${FLAPPING_CHANGES} times within ${FLAPPING_S} s; nothing new is noted until that ends`,
      ),
    })
  }

  private flaps(uuid: string): boolean {
    const { changed_s = [] } = this.last.get(uuid) ?? {}
    const [first] = changed_s
    const since_s = seconds(this.options.clock) - FLAPPING_S
    return first !== undefined && changed_s.length === FLAPPING_CHANGES && first > since_s
  }

  /** The nodes' processor loads in this order; null if a node that is up does not report it. */
  async loads(names: readonly string[]): Promise<number[] | null> {
    const byName = new Map(recordValues(this.options.config().nodes).map((node) => [node.name, node]))
    const loads: number[] = []
    for (const some of slices(names, ASKED_AT_ONCE)) {
      const loaded = await Promise.all(some.map((name) => this.load(byName.get(name))))
      for (const load of loaded) {
        if (load === undefined) return null
        loads.push(load)
      }
    }
    return loads
  }

  private async load(node: Node | undefined): Promise<number | undefined> {
    if (node === undefined || node.offline || !node.vm_capable) return 0
    try {
      const { data } = JSON.parse(await this.ask(node, LOAD)) as { data?: unknown }
      const total = isObject(data) ? data['cpu_total'] : undefined
      return typeof total === 'number' ? total : undefined
    } catch {
      return undefined
    }
  }

  private async askAll(nodes: readonly Node[]) {
    const reports = new Map<string, JsonObject>()
    const problems: Record<string, string> = {}
    const news = new Map<string, number>()
    const key = await this.options.key()
    for (const some of slices(nodes, ASKED_AT_ONCE))
      await Promise.all(
        some.map(async (node) => {
          try {
            // An offline node observes nothing.
            reports.set(node.uuid, node.offline ? { status: 'Ok' } : await this.askOne(node, key, news))
          } catch (error) {
            problems[node.name] = errorText(error)
          }
        }),
      )
    return { reports, problems, news }
  }

  /** `news` gets the times of reports that differ from the earlier ones. */
  private async askOne(node: Node, key: string, news: Map<string, number>): Promise<JsonObject> {
    const text = await this.ask(node, DIAGNOSE)
    const last = this.last.get(node.uuid)
    const { report, time_ns } = readDiagnosis(text, {
      ...{ key, node: node.name, now_s: seconds(this.options.clock) },
      interval_s: this.interval_s(),
      last_ns: Math.max(last?.time_ns ?? 0, this.reported().get(node.uuid) ?? 0),
    })
    const digest = createHash('sha256').update(canonicalJson(report)).digest('base64')
    const isNew = digest !== last?.digest
    if (isNew) news.set(node.uuid, time_ns)
    const before = last?.changed_s ?? []
    const changed_s =
      isNew && last !== undefined ? [...before, seconds(this.options.clock)].slice(-FLAPPING_CHANGES) : before
    this.last.set(node.uuid, { time_ns, digest, changed_s })
    return report
  }

  private reported(): ReadonlyMap<string, number> {
    const gantry = this.options.memory.gantry()
    return gantry === undefined ? new Map() : reportedOf(gantry)
  }

  private async ask(node: Node, path: string): Promise<string> {
    const { clock, ask } = this.options
    const bounds = { clock, limit_s: DIAGNOSE_ANSWER_S, bytes_max: DIAGNOSE_ANSWER_BYTES_MAX }
    return (await ask(node, path, bounds)).text
  }

  private tellProblems(problems: Readonly<Record<string, string>>): Promise<void> {
    const sorted = Object.entries(problems).sort(([a], [b]) => (a < b ? -1 : 1))
    return this.options.memory.put(PROBLEMS_KEY, sorted.length === 0 ? null : Object.fromEntries(sorted))
  }
}
