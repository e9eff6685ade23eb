// Units that only read from nodes: from all, or from the named ones.
import { ECODE, OpPrereqError } from '../../model/errors'
import { wantedNodes } from '../find'
import { all, shared, type LockPlan } from '../logical-unit'
import type { UnitContext } from '../unit-context'

export async function lockNodesForReading(
  op: { readonly nodes: readonly string[] },
  ctx: UnitContext,
): Promise<LockPlan> {
  const nodes = await wantedNodes(ctx, op.nodes)
  return { node: shared(op.nodes.length === 0 ? all : nodes.map((node) => node.uuid)) }
}

export function checkFields(known: readonly string[], desired: readonly string[]): void {
  const unknown = desired.filter((field) => !known.includes(field))
  if (unknown.length > 0) throw new OpPrereqError(`Unknown output fields selected: ${unknown.join(',')}`, ECODE.INVAL)
}
