// The inputs and the findings of a plan.
import { applyChange } from '../../config/changes'
import { Reservations } from '../../config/reservations'
import { type Clock, seconds } from '../../lib/clock'
import type { Log } from '../../lib/log'
import type { Paths } from '../../lib/paths'
import type { Random } from '../../lib/random'
import type { ConfigData, GantryData } from '../../model/config'
import type { LockMode } from '../../model/lock'
import type { WireOpCode } from '../../rpc/luxi/calls'
import type { PlannedLock, PlannedNodeCall, Prerequisite, ReadObject } from '../../rpc/luxi/plan'
import type { NodeClient } from '../../rpc/node/client'
import type { LockName, NamedChange } from '../../rpc/wconfd/calls'
import type { JobEnvironment } from '../environment'
import type { PlanEnd } from './end'

/** The inputs of a plan. */
export interface PlanFacts {
  /** The snapshot for the plan. */
  readonly config: ConfigData
  readonly gantry: GantryData
  /** Gets only questions that change nothing. */
  readonly nodes: NodeClient
  readonly clock: Clock
  readonly random: Random
  readonly paths: Paths
  readonly log: Log
  readonly masterFile?: JobEnvironment['masterFile']
}

/** The findings so far. Each opcode starts from the configuration that the previous one made. */
export class PlanState {
  config: ConfigData
  gantry: GantryData
  /** From now on real nodes would answer differently, because earlier opcodes would have changed them. */
  ordered = false
  /** An earlier opcode may change more than we know. */
  incomplete = false
  /** The check is over: objects that are read from now on are no prerequisites. */
  running = false
  locks: PlannedLock[] = []
  messages: string[] = []
  orders: PlannedNodeCall[] = []
  jobs: (readonly WireOpCode[])[] = []
  prerequisites: Prerequisite[] = []
  readonly reservations: Reservations
  /** Set even if the unit continued without the answer. Nothing that it did since then counts. */
  end: PlanEnd | undefined
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
    this.end = undefined
    ;[this.locks, this.messages, this.orders, this.jobs, this.prerequisites] = [[], [], [], [], []]
  }

  note(read: ReadObject): void {
    if (!this.running) this.reads.set(`${read.kind}/${read.uuid}`, read)
  }

  /** The objects that the check has read and that no earlier opcode makes or changes. So they are objects of the real cluster. */
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

  /** Also returns the error that ends the unit. */
  endsWith(end: PlanEnd): PlanEnd {
    this.end ??= end
    this.freeze()
    return this.end
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
