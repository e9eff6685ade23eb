// Sets the primary node of an instance that somebody has moved without us. Nothing of it may run on the old node.
import type { Node } from '../../../model/config'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { findNode } from '../../find'
import type { UnitContext } from '../../unit-context'
import { hvParamsOf, runtimeOf } from '../checks'
import type { SetOp } from './set-op'
import type { InstanceView } from '../view'

/** Runs before any lock is held. */
export async function notePrimary(ctx: UnitContext, { pnode, pnode_uuid }: SetOp): Promise<void> {
  if (pnode === undefined) return
  const { object } = await findNode(ctx, pnode, pnode_uuid)
  ctx.note({ pnode: object.name, pnode_uuid: object.uuid })
}

/** The new node; undefined without a change. */
export async function newPrimary(ctx: UnitContext, op: SetOp, view: InstanceView): Promise<Node | undefined> {
  if (op.pnode === undefined) return undefined
  const { object: node } = await findNode(ctx, op.pnode, op.pnode_uuid)
  const { instance, primary } = view
  if (node.uuid === primary.uuid) return undefined
  if (op.force) return node
  const args = [instance.name, instance.hypervisor, hvParamsOf(view)] as const
  const answer = await ctx.nodes.attempt(primary, 'instance_info', [...args])
  if (!answer.ok) ctx.log.say(`WARNING: Can't get instance runtime information: ${answer.error}`)
  else if (runtimeOf(answer.payload) !== undefined)
    throw new OpPrereqError(`Instance is still running on ${primary.name}`, ECODE.STATE)
  return node
}
