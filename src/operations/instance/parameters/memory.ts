// Changes an instance's memory: checks that its nodes have the new maximum, and gives a running instance its part at once.
import { fillBeParams } from '../../../config/filled'
import type { BeParams, Instance, Node } from '../../../model/config'
import { ECODE, OpPrereqError } from '../../../model/errors'
import type { ArgsOf } from '../../../rpc/node/calls'
import type { NodeInfo } from '../../../rpc/node/dicts'
import type { UnitContext } from '../../unit-context'
import { checkNodeFreeMemory, hvParamsOf, runtimeOf } from '../checks'
import type { Changed, SetOp } from './set-op'
import { dictOf, type InstanceView } from '../view'

/** With more memory than its nodes have free, the instance could not start again, or fail over. */
export async function checkMoreMemory(ctx: UnitContext, view: InstanceView, next: BeParams): Promise<void> {
  const { config, instance } = view
  if (next.maxmem <= fillBeParams(config.cluster, instance.beparams).maxmem) return
  await checkPrimary(ctx, view, next)
  if (next.auto_balance) for (const node of view.secondaries) await checkSecondary(ctx, view, node, next)
}

async function checkPrimary(ctx: UnitContext, view: InstanceView, next: BeParams): Promise<void> {
  const { instance, primary } = view
  const live = await ctx.nodes.attempt(primary, 'instance_info', [instance.name, instance.hypervisor, hvParamsOf(view)])
  const node = await ctx.nodes.attempt(primary, 'node_info', infoArgs(view))
  // A node that does not answer counts as down, so the change can wait.
  if (!node.ok) return ctx.log.warning(`Can't get info from primary node ${primary.name}: ${node.error}`)
  const free = freeOf(node.payload)
  if (free === undefined)
    return ctx.log.warning(`Node data from primary node ${primary.name} doesn't contain free memory information`)
  if (!live.ok) return ctx.log.warning(`Can't get instance runtime information: ${live.error}`)
  const missing = next.maxmem - (runtimeOf(live.payload)?.memory ?? 0) - free
  if (missing > 0)
    throw new OpPrereqError(
      `This change will prevent the instance from starting, due to ${missing} MB of memory missing on its primary node`,
      ECODE.NORES,
    )
}

async function checkSecondary(ctx: UnitContext, view: InstanceView, node: Node, next: BeParams): Promise<void> {
  if (node.offline)
    return ctx.log.warning(`Secondary node ${node.name} is offline, so nobody knows whether it has the memory`)
  const info = await ctx.nodes.attempt(node, 'node_info', infoArgs(view))
  if (!info.ok)
    throw new OpPrereqError(
      `Can't get info from secondary node ${node.name}: ${info.error}; --force changes the memory without it`,
      ECODE.STATE,
    )
  const free = freeOf(info.payload)
  if (free === undefined)
    throw new OpPrereqError(`Secondary node ${node.name} didn't return free memory information`, ECODE.STATE)
  if (next.maxmem > free)
    throw new OpPrereqError(
      `This change will prevent the instance from failover to its secondary node ${node.name}, due to not enough memory`,
      ECODE.STATE,
    )
}

const infoArgs = (view: InstanceView): ArgsOf<'node_info'> => [[], [[view.instance.hypervisor, hvParamsOf(view)]]]

const freeOf = ([, , hypervisors]: NodeInfo): number | undefined => {
  const free = hypervisors?.[0]?.memory_free
  return typeof free === 'number' ? free : undefined
}

/** A running instance gets or returns memory at once, within its new bounds. */
export async function checkBalloon(
  ctx: UnitContext,
  op: SetOp,
  view: InstanceView,
  beparams: Instance['beparams'],
): Promise<void> {
  if (op.runtime_mem === undefined) return
  const { config, instance, primary } = view
  const { hypervisor } = instance
  const what = `Error checking node ${primary.name}`
  const args = [instance.name, hypervisor, hvParamsOf(view)] as const
  const runtime = runtimeOf(await ctx.nodes.require(primary, what, ECODE.ENVIRON, 'instance_info', [...args]))
  if (runtime === undefined) throw new OpPrereqError(`Instance ${instance.name} is not running`, ECODE.STATE)
  const { minmem, maxmem } = fillBeParams(config.cluster, beparams)
  if (!op.force && (op.runtime_mem > maxmem || op.runtime_mem < minmem))
    throw new OpPrereqError(
      `Instance ${instance.name} must have memory between ${minmem} and ${maxmem} MB of memory unless --force is given`,
      ECODE.INVAL,
    )
  const more = op.runtime_mem - runtime.memory
  const reason = `ballooning memory for instance ${instance.name}`
  if (more > 0) await checkNodeFreeMemory(ctx, primary, reason, more, hypervisor, hvParamsOf(view))
}

export async function balloon(ctx: UnitContext, op: SetOp, view: InstanceView): Promise<Changed[]> {
  if (op.runtime_mem === undefined) return []
  const what = 'Cannot modify instance runtime memory'
  await ctx.nodes.call(view.primary, what, 'instance_balloon_memory', [dictOf(view), op.runtime_mem])
  return [['runtime_memory', op.runtime_mem]]
}
