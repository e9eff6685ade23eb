// Plans: what a job would do, as the master tells it.
import type { ObjectKind } from '../../model/object-kinds'
import type { WireOpCode } from './calls'
import type { Precondition } from './gantry'

export interface PlanRequest {
  readonly ops: readonly WireOpCode[]
}

export interface PlannedLock {
  /** `instance/vm1` */
  lock: string
  mode: 'shared' | 'exclusive'
}

export interface Prerequisite {
  /** The condition that must hold. */
  what: string
  /** Null where it cannot be known: an earlier opcode of the job changes the nodes, or to ask would be to start a program. */
  passed: boolean | null
  /** Why it is not so. */
  reason: string | null
  /** The kind of the refusal, as `wrong_state`. */
  code: string | null
  /** The node that must be up for it, or null when none is needed. */
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
  /** Whether its prerequisites are there; null where only its run can tell. */
  possible: boolean | null
  /** In the order in which they are taken. */
  locks: PlannedLock[]
  prerequisites: Prerequisite[]
  /** The lines that the job's log would have. */
  messages: string[]
  hooks: PlannedHooks | null
  /** Objects of the configuration that change. What is picked by chance, such as uuids of new objects, will be different. */
  changes: PlannedChange[]
  /** False when more may change: what comes after `changes_note`. */
  changes_complete: boolean
  changes_note: string | null
  /** The calls that nodes would get. */
  node_calls: PlannedNodeCall[]
  /** Jobs that it would submit: the summaries of their opcodes. */
  jobs: string[][]
}

export interface PlanPrecondition {
  /** `instance/vm1` */
  object: string
  serial_no: number
}

/** The changes that a job would make. */
export interface Plan {
  /** For a submission of the same opcodes by the same user: it is refused when what the plan has read is not as it was. */
  id: string
  /** @format date-time */
  expires: string
  /** Whether all prerequisites are there; null where only the run can tell. */
  possible: boolean | null
  /** Up to the first opcode that is not possible. */
  ops: PlannedOpcode[]
  /** The objects that have been read, and must still be the same. */
  preconditions: PlanPrecondition[]
}

/** An object that was looked at. */
export type ReadObject = Precondition & { readonly name: string }

/** The findings about an opcode: `read` is what its check has read, and no earlier opcode of the job changes. */
export interface Planned {
  readonly opcode: PlannedOpcode
  readonly read: readonly ReadObject[]
  /** The opcodes of `jobs`. */
  readonly submits: readonly (readonly WireOpCode[])[]
}
