// Questions to the allocation as they are asked of the master, and what it answers.
import type { BalanceRequest, BalanceStep, CapacityRequest, GroupScore, WhatIfRequest } from '../../model/allocation'
import { OpClusterBalance, OpClusterCapacity, OpClusterWhatIf } from '../../opcodes/allocation'
import { type Check, nonNegative, float, orNull, refine, required } from '../../opcodes/check'
import type { ParameterTable } from '../../opcodes/opcode'
import type { JobId, WireOpCode } from './calls'
import type { Precondition } from './gantry'

/** What the master answers to a balance. */
export interface PlannedBalance {
  readonly plan: string | null
  /** As RFC 3339 has it. */
  readonly expires: string | null
  readonly groups: readonly GroupScore[]
  readonly steps: readonly BalanceStep[]
  readonly ops: readonly WireOpCode[]
  /** Of each of `ops`. */
  readonly preconditions: readonly (readonly Precondition[])[]
  readonly more: boolean
  readonly left_out: string | null
}

/** The answer, or the job that will have it as its result. */
export type Answered<T> = { readonly answer: T } | { readonly job: JobId }

/** Reads a request. It has the parameters of the opcode, except for `visible`, which follows from the caller. */
function reader<T>({ params }: { readonly params: ParameterTable }): Check<T> {
  const asked = Object.entries(params).filter(([name]) => name !== 'visible')
  const needed = asked.flatMap(([name, { need }]) => (need === 'required' ? [name] : []))
  const fields = Object.fromEntries(asked.map(([name, { check }]) => [name, check]))
  // The fields are those of the opcode, beside which the type of the request stands.
  return required<Record<string, unknown>>(fields, needed) as Check<unknown> as Check<T>
}

/** Each throws Mismatch with what is wrong. */
export const balanceRequest = reader<BalanceRequest>(OpClusterBalance)
export const capacityRequest = reader<CapacityRequest>(OpClusterCapacity)
export const whatIfRequest = refine(
  reader<WhatIfRequest>(OpClusterWhatIf),
  {},
  ({ nodes, node_tag, instances }) => nodes !== undefined || node_tag !== undefined || instances !== undefined,
  (given) => `${JSON.stringify(given)} says of nothing that happens: give nodes, node_tag or instances`,
)
export const patience = orNull(nonNegative(float))
