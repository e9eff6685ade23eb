// Plans a round; the same input gives the same jobs. No two jobs touch the same node or instance, so that all can run
// at once.
import type { AllocOptions } from '../allocation/model/options'
import { BALANCE_DEFAULTS, planBalanceSteps } from '../allocation/questions/balance-plan'
import type { ClusterData, NodeData } from '../allocation/model/cluster-data'
import { buildModel } from '../allocation/model/cluster-model'
import type { Settings } from '../allocation/model/cluster-model'
import { JsonFields } from '../allocation/sources/json-fields'
import { WHOLE } from '../allocation/sources/measured-loads'
import { BALANCE_MOVES_MAX, ROUND_JOBS_MAX } from '../model/limits/maintenance'
import { FAILED_TAG, isActive, type MaintenanceSettings, type RepairEvent, REPAIR_ACTIONS } from '../model/maintenance'
import { mostInvasive } from './life'
import { repairJobs } from './plan-repairs'
import type { PlannedJob } from './planned-job'
import { Evacuations } from './evacuations'

export interface RoundQuestion {
  readonly events: readonly RepairEvent[]
  /** The name of each node with an event, by its uuid. */
  readonly names: Readonly<Record<string, string>>
  readonly settings: MaintenanceSettings
  readonly now_s: number
  /** Statuses of the jobs that repairs' tags name. */
  readonly jobs: readonly (readonly [job: number, status: string])[]
  /**
   * Each node's processor load in the order of the nodes, if balancing considers it; null if not all nodes have
   * reported it.
   */
  readonly loads: readonly number[] | null
}

export interface RoundPlan {
  readonly jobs: readonly PlannedJob[]
  /** Why an event does not go on, by its id; null if it does. */
  readonly notes: readonly (readonly [event: string, note: string | null])[]
}

export function planRound(data: ClusterData, question: RoundQuestion, options: AllocOptions): RoundPlan {
  const round = new PlannedRound(data, question, options)
  round.handleEvents()
  if (question.settings.harep) round.repairInstances()
  if (question.settings.balance) round.balance()
  return { jobs: round.jobs.slice(0, ROUND_JOBS_MAX), notes: [...round.notes] }
}

function measured(data: ClusterData, loads: readonly number[]): Settings {
  const told = data.nodes.map((_, at) => JsonFields.of('Load', { cpu_total: loads[at] ?? 0 }))
  const used = WHOLE.use(buildModel(data), told)
  return typeof used === 'string' ? {} : used
}

/** The nodes and instances that the round's jobs touch. */
class Touched {
  private readonly names = new Set<string>()

  /** Returns whether all of it was free, and then takes it. */
  take({ nodes, instances }: Pick<PlannedJob, 'nodes' | 'instances'>): boolean {
    const all = [...nodes.map((name) => `node/${name}`), ...instances.map((name) => `instance/${name}`)]
    if (all.some((one) => this.names.has(one))) return false
    for (const one of all) this.names.add(one)
    return true
  }

  hasNode(name: string): boolean {
    return this.names.has(`node/${name}`)
  }
}

class PlannedRound {
  readonly jobs: PlannedJob[] = []
  readonly notes = new Map<string, string | null>()
  private readonly touched = new Touched()
  private readonly byName: ReadonlyMap<string, { readonly at: number; readonly node: NodeData }>
  /** Names of nodes with an active event or a failed one. */
  private readonly affected: ReadonlySet<string>
  private readonly broken: ReadonlySet<string>

  constructor(
    private readonly data: ClusterData,
    private readonly question: RoundQuestion,
    private readonly options: AllocOptions,
  ) {
    this.byName = new Map(data.nodes.map((node, at) => [node.name, { at, node }]))
    const named = (events: readonly RepairEvent[]) => new Set(events.flatMap((event) => this.nameOf(event) ?? []))
    this.affected = named(question.events.filter(isActive))
    this.broken = named(question.events.filter(({ status }) => status === 'failed'))
  }

  /** Tags for failures come first, since nothing else reports these; then the most invasive event of each node. */
  handleEvents(): void {
    for (const event of this.question.events)
      if (event.status === 'failed' && !event.tagged) this.tag(event, 'is not repaired, because a job failed')
    const all = [...mostInvasive(this.question.events).values()].sort(
      (a, b) => REPAIR_ACTIONS.indexOf(b.action) - REPAIR_ACTIONS.indexOf(a.action) || a.ctime - b.ctime,
    )
    const evacuations = new Evacuations(this.data, this.options)
    for (const event of all) {
      if (event.action === 'live-repair') this.repair(event)
      else this.evacuate(event, evacuations)
    }
  }

  repairInstances(): void {
    const { now_s, jobs } = this.question
    const isFree = (node: string): boolean => !this.affected.has(node)
    for (const job of repairJobs(this.data, { now_s, jobs: new Map(jobs), isFree })) this.add(job)
  }

  balance(): void {
    const { settings, loads } = this.question
    if (settings.balance_load && loads === null) return
    const nodes = this.data.nodes.filter((node) => this.isFree(node) && !this.broken.has(node.name))
    if (nodes.length < 2) return
    const model = buildModel(this.data, settings.balance_load && loads !== null ? measured(this.data, loads) : {})
    for (const { name: group } of this.data.groups) {
      const { steps, ops } = planBalanceSteps(
        model,
        {
          ...BALANCE_DEFAULTS,
          ...{ groups: [group], nodes: nodes.map(({ name }) => name), maxMoves: BALANCE_MOVES_MAX, maxOpcodes: 100 },
          ...{ minGain: settings.balance_threshold, minGainLimit: settings.balance_threshold * 10 },
          diskMoves: settings.balance_disks,
        },
        this.options.ignoreSoftErrors,
      )
      for (const { instance, from, to, first_op, op_count } of steps) {
        const touches = { nodes: [...new Set([...from, ...to])], instances: [instance] }
        const text = `balancing ${group}: moving ${instance} from ${from.join(', ')} to ${to.join(', ')}`
        // The later ones were computed as if it had been made.
        if (
          !this.add({ kind: 'balance', event: null, text, ...touches, ops: ops.slice(first_op, first_op + op_count) })
        )
          break
      }
    }
  }

  private evacuate(event: RepairEvent, evacuations: Evacuations): void {
    const found = this.nodeOf(event)
    if (found === undefined) return
    const { node, at } = found
    if (!this.question.settings.evacuation) return this.note(event, 'evacuation is off in the settings of maintenance')
    if (node.unusable !== 'drained' && node.unusable !== 'offline') return this.drain(event, node)
    const step = evacuations.next(at, event.action, (other) => this.isFree(other) && !this.broken.has(other.name))
    if (step === undefined) return this.tag(event, 'is empty')
    if ('stuck' in step) return this.note(event, step.stuck)
    const { instance, nodes, ops } = step
    const text = `evacuating ${node.name}: moving ${instance}`
    this.begin(event, { kind: 'move', event: event.id, text, nodes, instances: [instance], ops })
  }

  private drain(event: RepairEvent, { name }: NodeData): void {
    const ops = [{ OP_ID: 'OP_NODE_SET_PARAMS', node_name: name, drained: true, force: true }]
    this.begin(event, {
      ...{ kind: 'drain', event: event.id, text: `evacuating ${name}: it gets no new instances`, ops },
      ...{ nodes: [name], instances: [] },
    })
  }

  private repair(event: RepairEvent): void {
    const name = this.nameOf(event)
    if (name === undefined) return
    if (!this.question.settings.live_repair)
      return this.note(event, 'repair commands are off in the settings of maintenance')
    const { command } = event.original
    // A failed job would have ended the event.
    if (event.jobs.length > 0 || typeof command !== 'string' || command === '') return this.tag(event, 'is repaired')
    const ops = [{ OP_ID: 'OP_REPAIR_COMMAND', node_name: name, command, input: JSON.stringify(event.original) }]
    const text = `repairing ${name}: running ${JSON.stringify(command)}`
    this.begin(event, { kind: 'repair-command', event: event.id, text, nodes: [name], instances: [], ops })
  }

  /** From now on people decide about the node. */
  private tag(event: RepairEvent, why: string): void {
    const name = this.nameOf(event)
    if (name === undefined) return
    const ops = [{ OP_ID: 'OP_TAGS_SET', kind: 'node', tags: [event.tag], name }]
    const text = `${name} ${why}: it gets the tag ${event.tag}`
    const job = { kind: 'tag', event: event.id, text, nodes: [name], instances: [], ops } as const
    if (event.tag.startsWith(FAILED_TAG)) this.add(job)
    else this.begin(event, job)
  }

  private begin(event: RepairEvent, job: PlannedJob): void {
    this.note(event, this.add(job) ? null : 'it waits for jobs of this round at the same node or instance')
  }

  private note(event: RepairEvent, note: string | null): void {
    this.notes.set(event.id, note)
  }

  private add(job: PlannedJob): boolean {
    const fits = this.jobs.length < ROUND_JOBS_MAX && this.touched.take(job)
    if (fits) this.jobs.push(job)
    return fits
  }

  /** No event concerns it, and it may get instances. */
  private isFree(node: NodeData): boolean {
    return !node.offline && !this.affected.has(node.name) && !this.touched.hasNode(node.name)
  }

  private nodeOf(event: RepairEvent) {
    return this.byName.get(this.nameOf(event) ?? '')
  }

  private nameOf({ node }: RepairEvent): string | undefined {
    const name = this.question.names[node]
    return name !== undefined && this.byName.has(name) ? name : undefined
  }
}
