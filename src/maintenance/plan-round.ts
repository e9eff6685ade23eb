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
import { mostInvasive } from './event-lifecycle'
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
  /** Instances with jobs that this round must leave alone. */
  readonly busy: readonly string[]
  /** Instances whose move has failed, which a balance leaves alone. */
  readonly resting: readonly string[]
  /** The name of the master. */
  readonly master: string
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
  const reported = data.nodes.map((_, at) => JsonFields.of('Load', { cpu_total: loads[at] ?? 0 }))
  const used = WHOLE.use(buildModel(data), reported)
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

/** For people: nothing but a failover of the master lets the event end. */
const ROLE_MUST_MOVE =
  'this node is the master: its role must move, by "gnt cluster master-failover" on another master candidate, before the node is drained'

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
    this.touched.take({ nodes: [], instances: question.busy })
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
    const { settings, loads, resting } = this.question
    if (settings.balance_load && loads === null) return
    const instances = this.data.instances.map(({ name }) => name).filter((name) => !resting.includes(name))
    const nodes = this.data.nodes.filter((node) => this.isFree(node) && !this.broken.has(node.name))
    if (nodes.length < 2) return
    const model = buildModel(this.data, settings.balance_load && loads !== null ? measured(this.data, loads) : {})
    for (const { name: group } of this.data.groups) {
      const { steps, ops } = planBalanceSteps(
        model,
        {
          ...BALANCE_DEFAULTS,
          ...{ groups: [group], nodes: nodes.map(({ name }) => name), instances },
          ...{ maxMoves: BALANCE_MOVES_MAX, maxOpcodes: 100 },
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
    const { settings, master } = this.question
    const isMaster = node.name === master
    if (!settings.evacuation) return this.note(event, 'evacuation is off in the settings of maintenance')
    if (!isMaster && node.unusable !== 'drained' && node.unusable !== 'offline') return this.drain(event, node)
    const step = evacuations.next(at, {
      action: event.action,
      mayTake: (other) => this.isFree(other) && !this.broken.has(other.name),
      isLost: (other) => other.offline || this.affected.has(other.name) || this.broken.has(other.name),
      whyNoCopies: this.whyNoCopies(),
    })
    if (step === undefined) return isMaster ? this.emptyMaster(event, node) : this.empty(event, node)
    if ('stuck' in step) return this.note(event, step.stuck)
    const { instance, nodes, ops, copies } = step
    const text = `evacuating ${node.name}: ${copies ? `copying the disks of ${instance} to ${nodes.at(-1)}` : `moving ${instance}`}`
    const job = { kind: copies ? 'copy' : 'move', event: event.id, text, nodes, instances: [instance], ops } as const
    this.begin(event, job, isMaster ? ROLE_MUST_MOVE : null)
  }

  private whyNoCopies(): string | undefined {
    const { evacuation_disks, evacuation_copies } = this.question.settings
    if (!evacuation_disks) return 'evacuation_disks is off in the settings of maintenance'
    if (this.jobs.filter(({ kind }) => kind === 'copy').length < evacuation_copies) return undefined
    return `it waits for the copies of others: evacuation_copies is ${evacuation_copies} in the settings of maintenance`
  }

  private empty(event: RepairEvent, node: NodeData): void {
    if (!this.question.settings.evacuation_offline || node.unusable === 'offline') return this.tag(event, 'is empty')
    const { name } = node
    const ops = [{ OP_ID: 'OP_NODE_SET_PARAMS', node_name: name, offline: true, force: true }]
    const text = `evacuating ${name}: it is empty, and goes offline`
    this.begin(event, { kind: 'offline', event: event.id, text, nodes: [name], instances: [], ops })
  }

  /** A master can be neither drained nor offline. */
  private emptyMaster(event: RepairEvent, { name, unusable }: NodeData): void {
    if (unusable !== undefined) return this.note(event, `it is empty; ${ROLE_MUST_MOVE}`)
    const ops = [{ OP_ID: 'OP_NODE_SET_PARAMS', node_name: name, vm_capable: false }]
    const text = `evacuating ${name}: it is empty, and gets no new instances`
    this.begin(event, { kind: 'unfit', event: event.id, text, nodes: [name], instances: [], ops }, ROLE_MUST_MOVE)
  }

  private drain(event: RepairEvent, { name }: NodeData): void {
    const fit = { OP_ID: 'OP_NODE_SET_PARAMS', node_name: name, vm_capable: true }
    const drained = { OP_ID: 'OP_NODE_SET_PARAMS', node_name: name, drained: true, force: true }
    this.begin(event, {
      ...{ kind: 'drain', event: event.id, text: `evacuating ${name}: it gets no new instances` },
      ...{ ops: event.unfit === true ? [fit, drained] : [drained], nodes: [name], instances: [] },
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

  private begin(event: RepairEvent, job: PlannedJob, note: string | null = null): void {
    this.note(event, this.add(job) ? note : 'it waits for jobs of this round at the same node or instance')
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
