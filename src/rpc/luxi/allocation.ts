// Questions about placement to the master, and its answers.
import type { BalanceRequest, BalanceStep, CapacityRequest, GroupScore, WhatIfRequest } from '../../model/allocation'
import { OpClusterBalance, OpClusterCapacity, OpClusterWhatIf } from '../../opcodes/allocation'
import { orNull } from '../../lib/shapes/containers'
import { float, nonNegative } from '../../lib/shapes/leaves'
import { objectOf } from '../../lib/shapes/objects'
import { type Shape, refine } from '../../lib/shapes/shape'
import { type ParameterTable, fieldsOf } from '../../opcodes/opcode'
import type { JobId, WireOpCode } from './calls'
import type { Precondition } from './gantry'

/** The master's answer to a balance. */
export interface PlannedBalance {
  readonly plan: string | null
  /** As RFC 3339 has it. */
  readonly expires: string | null
  readonly groups: readonly GroupScore[]
  readonly steps: readonly BalanceStep[]
  readonly ops: readonly WireOpCode[]
  /** One list for each of `ops`. */
  readonly preconditions: readonly (readonly Precondition[])[]
  readonly more: boolean
  readonly left_out: string | null
}

/** The answer, or the job whose result it will be. */
export type Answered<T> = { readonly answer: T } | { readonly job: JobId }

/** A request has the parameters of its opcode, without `visible`, which depends on the caller. */
function requestOf<const P extends ParameterTable>({ params: { visible: _, ...requested } }: { readonly params: P }) {
  return objectOf(fieldsOf(requested), { others: 'refused' })
}

/** Each throws a Mismatch that names the mistake. */
export const balanceRequest: Shape<BalanceRequest> = requestOf(OpClusterBalance)
export const capacityRequest: Shape<CapacityRequest> = requestOf(OpClusterCapacity)
export const whatIfRequest: Shape<WhatIfRequest> = refine(
  requestOf(OpClusterWhatIf),
  {},
  ({ nodes, node_tag, instances }) => nodes !== undefined || node_tag !== undefined || instances !== undefined,
  (input) => `${JSON.stringify(input)} says of nothing that happens: give nodes, node_tag or instances`,
)
export const patience = orNull(nonNegative(float))
