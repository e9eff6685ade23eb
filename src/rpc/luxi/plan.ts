// Plans: what a job would do, as the master answers it.
import type { ObjectKind } from '../../model/object-kinds'
import type { WireOpCode } from './calls'
import type { Precondition } from './gantry'

export interface PlanRequest {
  readonly ops: readonly WireOpCode[]
  /** Each opcode is for a job of its own. */
  readonly apart?: boolean
}

export interface PlannedLock {
  /** `instance/vm1` */
  lock: string
  mode: 'shared' | 'exclusive'
}

export interface Prerequisite {
  /** The condition that must hold. */
  what: string
  /** Null if unknown: an earlier opcode of the job changes the nodes, or asking would start a program. */
  passed: boolean | null
  /** Why it does not hold. */
  reason: string | null
  /** The kind of refusal, such as `wrong_state`. */
  code: string | null
  /** The node that must be up for it, or null. */
  node: string | null
}

export interface PlannedHooks {
  /** Name of the hook directory, without its phase. */
  path: string
  /** Nodes on which scripts run before it, and may refuse it. */
  pre: string[]
  /** Nodes on which scripts run afterwards. */
  post: string[]
}

export interface PlannedChange {
  kind: ObjectKind | 'disk' | 'filter'
  uuid: string
  name: string
  change: 'added' | 'changed' | 'removed'
  /** The fields that change, or the whole object; null for a new one. */
  before: { [field: string]: unknown } | null
  after: { [field: string]: unknown } | null
}

export interface PlannedNodeCall {
  node: string
  call: string
}

/** The changes that an opcode would make. */
export interface PlannedOpcode {
  OP_ID: string
  summary: string
  /** Whether all prerequisites hold; null if only the run can tell. */
  possible: boolean | null
  /** In the order in which they are taken. */
  locks: PlannedLock[]
  prerequisites: Prerequisite[]
  /** The lines of the job's log. */
  messages: string[]
  hooks: PlannedHooks | null
  /** Objects of the configuration that change. Random values, such as uuids of new objects, will differ. */
  changes: PlannedChange[]
  /** False if more may change after the point that `changes_note` names. */
  changes_complete: boolean
  changes_note: string | null
  /** The calls that nodes would get. */
  node_calls: PlannedNodeCall[]
  /** Jobs that it would submit, as summaries of their opcodes. */
  jobs: string[][]
}

interface PlanPrecondition {
  /** `instance/vm1` */
  object: string
  serial_no: number
}

/** The changes that a job would make. */
export interface Plan {
  /**
   * Name it in a submission of the same opcodes by the same user. The submission is refused if anything that the plan
   * has read has changed. A plan of opcodes that are planned `apart` is for a submission of each of them.
   */
  id: string
  /** @format date-time */
  expires: string
  /** Whether all prerequisites hold; null if only the run can tell. */
  possible: boolean | null
  /** Up to the first opcode that is not possible; all of them if they are planned `apart`. */
  ops: PlannedOpcode[]
  /** Objects that the plan has read, and that must still be the same. */
  preconditions: PlanPrecondition[]
}

/** An object that the plan has read. */
export type ReadObject = Precondition & { readonly name: string }

/**
 * The findings for an opcode. `read`: objects that its check has read, and that no earlier opcode of the job changes.
 */
export interface Planned {
  readonly opcode: PlannedOpcode
  readonly read: readonly ReadObject[]
  /** The opcodes of the jobs in `jobs`. */
  readonly submits: readonly (readonly WireOpCode[])[]
}
