// Locks of units on one network.
import { findNetwork } from '../find'
import { exclusive, type LockPlan } from '../logical-unit'
import type { UnitContext } from '../unit-context'

export async function lockNetwork(op: { readonly network_name: string }, ctx: UnitContext): Promise<LockPlan> {
  const { object } = await findNetwork(ctx, op.network_name)
  return { network: exclusive([object.uuid]) }
}
