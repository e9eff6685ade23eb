// Replaces a job's environment while a plan is made, so that nothing an operation asks for leaves a trace.
import { applyChange } from '../../config/changes'
import { Reservations } from '../../config/reservations'
import { slice } from '../../config/slice'
import { type Clock, seconds } from '../../lib/clock'
import type { Log } from '../../lib/log'
import type { Paths } from '../../lib/paths'
import type { Random } from '../../lib/random'
import type { ConfigData, GantryData } from '../../model/config'
import { OpExecError } from '../../model/errors'
import { PLAN_SLEEPS_MAX } from '../../model/limits/plans'
import type { ClientId, LockMode } from '../../model/lock'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { PlannedLock, PlannedNodeCall, Prerequisite, ReadObject } from '../../rpc/luxi/plan'
import type { NodeClient } from '../../rpc/node/client'
import type { LockName, NamedChange, UnitWconfd } from '../../rpc/wconfd/calls'
import type { JobEnvironment } from '../environment'
import { planNodes } from './nodes'
import { noted } from './reading'

/** The inputs of a plan. */
export interface PlanFacts {
  /** The snapshot that the plan is about. */
  readonly config: ConfigData
  readonly gantry: GantryData
  /** Is asked only what changes nothing. */
  readonly nodes: NodeClient
  readonly clock: Clock
  readonly random: Random
  readonly paths: Paths
  readonly log: Log
  readonly masterFile?: JobEnvironment['masterFile']
}

const CLIENT: ClientId = ['plan', '', 0]

/** The findings of one plan so far. Each opcode starts from the configuration that the one before it made. */
export class PlanState {
  config: ConfigData
  gantry: GantryData
  /** From now on real nodes would answer differently, because earlier opcodes would have changed them. */
  ordered = false
  /** An earlier opcode may change more than is known. */
  incomplete = false
  /** The checks are over: objects that are read from now on are no prerequisites. */
  running = false
  locks: PlannedLock[] = []
  messages: string[] = []
  orders: PlannedNodeCall[] = []
  jobs: (readonly WireOpCode[])[] = []
  prerequisites: Prerequisite[] = []
  readonly reservations: Reservations
  private reads = new Map<string, ReadObject>()
  private frozen: Pick<PlanState, 'config' | 'orders' | 'messages' | 'jobs'> | undefined

  constructor(readonly facts: PlanFacts) {
    this.config = facts.config
    this.gantry = facts.gantry
    this.reservations = new Reservations(() => this.config, facts.random)
  }

  begin(): void {
    this.running = false
    this.reads = new Map()
    this.frozen = undefined
    ;[this.locks, this.messages, this.orders, this.jobs, this.prerequisites] = [[], [], [], [], []]
  }

  note(read: ReadObject): void {
    if (!this.running) this.reads.set(`${read.kind}/${read.uuid}`, read)
  }

  /** The objects that the check read and that no earlier opcode makes or changes, so they are as they are in the cluster now. */
  checked(): { read: ReadObject[]; prerequisites: Prerequisite[] } {
    const { config } = this.facts
    const known: Record<ReadObject['kind'], (uuid: string) => { serial_no: number } | undefined> = {
      cluster: () => config.cluster,
      instance: (uuid) => config.instances[uuid],
      node: (uuid) => config.nodes[uuid],
      group: (uuid) => config.nodegroups[uuid],
      network: (uuid) => config.networks[uuid],
    }
    const read = [...this.reads.values()].filter(
      ({ kind, uuid, serial_no }) => known[kind](uuid)?.serial_no === serial_no,
    )
    return { read, prerequisites: this.prerequisites }
  }

  /** If the opcode fails, findings after this call do not count. */
  freeze(): void {
    const { config, orders, messages, jobs } = this
    this.frozen ??= { config, orders: [...orders], messages: [...messages], jobs: [...jobs] }
  }

  /** The opcode has failed: only what was found before counts. */
  thaw(): void {
    if (this.frozen !== undefined) Object.assign(this, this.frozen)
  }

  change(changes: readonly NamedChange[]): unknown[] {
    const context = { now_s: seconds(this.facts.clock), random: this.facts.random }
    return changes.map((named) => {
      const { documents, result } = applyChange({ config: this.config, gantry: this.gantry }, named, context)
      ;({ config: this.config, gantry: this.gantry } = documents)
      return result
    })
  }

  submitted(jobs: readonly (readonly WireOpCode[])[]): void {
    this.jobs.push(...jobs)
  }

  lock(name: LockName, mode: LockMode): void {
    const [level = '', ...rest] = name.split('/')
    const uuid = rest.join('/')
    const { nodes, nodegroups, networks } = this.config
    const title = (nodes[uuid] ?? nodegroups[uuid] ?? networks[uuid])?.name ?? uuid
    this.locks.push({ lock: `${level}/${title}`, mode })
  }
}

export function planEnvironment(state: PlanState, op: WireOpCode): JobEnvironment {
  const { random, paths, log } = state.facts
  return {
    ...{ jobId: 0, opIndex: 0, client: CLIENT, secrets: {}, random, paths, processLog: log.child({ plan: op.OP_ID }) },
    priority: () => 0,
    onPriority: () => () => undefined,
    wconfd: planWconfd(state),
    nodes: planNodes(state),
    log: (_type, message) => void state.messages.push(String(message)),
    note: () => undefined,
    started: async () => undefined,
    retrying: async () => undefined,
    cancelled: new AbortController().signal,
    clock: hastyClock(state.facts.clock),
    ...(state.facts.masterFile && { masterFile: state.facts.masterFile }),
    submitJobs: async (jobs) => {
      state.submitted(jobs)
      return jobs.map(() => [true, 0])
    },
  }
}

function planWconfd(state: PlanState): UnitWconfd {
  const { reservations: own } = state
  const read = (config: ConfigData) => noted(config, (object) => state.note(object))
  const take = (locks: readonly (readonly [LockName, LockMode])[]): LockName[] => {
    for (const [name, mode] of locks) state.lock(name, mode)
    return locks.map(([name]) => name)
  }
  return {
    readConfig: async () => read(state.config),
    gantryRead: async (selector) => read(slice(state.config, selector)),
    gantrySection: async (section) => state.gantry.sections[section] ?? {},
    gantryChange: async (_client, _epoch, changes) => state.change(changes),
    async gantryAcquire(_client, _priority, request) {
      for (const [name, mode] of request) if (mode !== 'release') state.lock(name, mode)
      return { epoch: 0 }
    },
    opportunisticLockUnion: async (_client, locks) => take(locks),
    guardedOpportunisticLockUnion: async (_count, _client, locks) => take(locks),
    tryUpdateLocks: async () => [],
    updateLocksWaiting: async () => [],
    gantryCancelRequest: async () => null,
    gantryBlockers: async () => [],
    gantryFreeAll: async () => null,
    freeLocksLevel: async () => null,
    downGradeLocksLevel: async () => null,
    listAllLocksOwners: async () => [],
    flushConfig: async () => null,
    gantryReplicas: async () => [],
    reserveMAC: async (client, mac) => nothing(own.reserveMac(client, mac)),
    generateMAC: async (client, network) => own.generateMac(client, network),
    reserveIp: async (client, network, ip, external) => nothing(own.reserveIp(client, network, ip, external)),
    generateIp: async (client, network) => own.generateIp(client, network),
  }
}

const nothing = (_done: void): null => null

/** A clock without waiting: a wait for nodes ends at once, as often as a plan has patience. */
function hastyClock(clock: Clock): Clock {
  let [ahead_ms, sleeps] = [0, 0]
  return {
    now_ms: () => clock.now_ms() + ahead_ms,
    monotonic_ms: () => clock.monotonic_ms() + ahead_ms,
    after: () => ({ cancel: () => undefined }),
    async sleep(delay_ms) {
      if (++sleeps > PLAN_SLEEPS_MAX) throw new OpExecError('a wait for what only nodes can do')
      ahead_ms += delay_ms
    },
  }
}
