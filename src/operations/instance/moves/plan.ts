// Checks the target of a migration or failover, before anything is changed.
import { fillBeParams, fillHvParams, fillIPolicy } from '../../../config/filled'
import { diskTemplateOf } from '../../../config/lookup'
import type { Node } from '../../../model/config'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { findNode } from '../../find'
import { instanceViolations } from '../../group/ipolicy'
import { exclusive, type LockPlan } from '../../logical-unit'
import type { UnitLevel, Want } from '../../lock-session'
import type { UnitContext } from '../../unit-context'
import { checkBridges, checkNodeFreeMemory, checkNodeNotDrained, checkNodeOnline, checkNodeVmCapable } from '../checks'
import { checkStartsOn, hvParamsOf, minimumMemory, runtimeOf } from '../checks'
import { keepsMirrors } from './mirror'
import { allocatorsFor, firstThatFinds } from '../placement/allocator'
import { chooseTarget } from '../placement/evacuation'
import { allNodes, dictOf, readInstance, type InstanceView } from '../view'
import { hasDisks, isMirrored, isMirroredOutside, NO_DISKS } from '../../../model/templates'

/** The parameters of OP_INSTANCE_MIGRATE and OP_INSTANCE_FAILOVER, common and special ones. */
export interface MoveOp {
  readonly instance_name: string
  readonly instance_uuid?: string | undefined
  readonly target_node?: string | undefined
  readonly target_node_uuid?: string | undefined
  readonly iallocator?: string | undefined
  readonly ignore_ipolicy: boolean
  readonly cleanup: boolean
  readonly ignore_consistency?: boolean | undefined
  readonly mode?: 'live' | 'non-live' | undefined
  readonly live?: boolean | undefined
}

export interface Move {
  readonly view: InstanceView
  readonly target: Node
  /** Stop here and start there, instead of migrating. */
  readonly failover: boolean
  readonly live: boolean
  /** MiB: the memory that the instance uses now, and the free memory of the target; 0 if it does not matter. */
  readonly memoryUsed_mib: number
  readonly memoryFree_mib: number
}

export interface MoveKind {
  readonly failover: boolean
  /** An impossible migration becomes a failover. */
  readonly fallback: boolean
}

/** The instance, its nodes and the target; all nodes while the allocator still has to choose. */
export const moveLocks = {
  async locks(op: MoveOp, ctx: UnitContext): Promise<LockPlan> {
    const { instance } = await readInstance(ctx, op, 'all')
    return { instance: exclusive([instance.name]) }
  },
  async declare(level: UnitLevel, op: MoveOp, ctx: UnitContext): Promise<Want | undefined> {
    if (level !== 'node' && level !== 'node-res') return undefined
    const view = await readInstance(ctx, op, 'all')
    const own = allNodes(view).map((node) => node.uuid)
    if (keepsMirrors(view)) return exclusive(own)
    if (op.target_node !== undefined) {
      const { object } = await findNode(ctx, op.target_node, op.target_node_uuid)
      ctx.note({ target_node: object.name, target_node_uuid: object.uuid })
      return exclusive([...new Set([...own, object.uuid])])
    }
    const { nodes } = await ctx.config.read({ nodes: 'all' })
    return exclusive(Object.values(nodes).map((node) => node.uuid))
  },
}

export async function planMove(ctx: UnitContext, op: MoveOp, desired: MoveKind): Promise<Move> {
  // Moving a reservation only changes its record, so there is nothing to clean up.
  const view = await readInstance(ctx, op, desired.failover && !op.cleanup ? 'real or reserved' : 'real')
  const { instance, primary } = view
  let failover = desired.failover
  if (!op.cleanup && instance.admin_state !== 'up' && !failover && desired.fallback) {
    ctx.log.info('Instance is marked down or offline, fallback allowed, switching to failover')
    failover = true
  }
  checkLayout(view, failover)
  const target = await targetOf(ctx, op, view)
  await checkTargetPolicy(ctx, view, target, op.ignore_ipolicy)
  const memoryFree_mib = await memoryOn(ctx, view, target, op.cleanup || (failover && instance.admin_state !== 'up'))
  if (!op.cleanup && !failover && fillBeParams(view.config.cluster, instance.beparams).always_failover) {
    ctx.log.info('Instance configured to always failover; fallback to failover')
    failover = true
  }
  await checkBridges(ctx, view.config, instance, target)
  if (!op.cleanup) {
    checkNodeNotDrained(target)
    if (!failover) failover = await mustFailOver(ctx, view, desired.fallback)
  }
  if (failover && stopsGuest(op, view)) await checkStartsOn(ctx, view, target)
  const migrates = !failover && !op.cleanup
  const live = !failover && isLive(ctx, op, view)
  const memoryUsed_mib = migrates ? await memoryInUse(ctx, view, primary) : 0
  return { view, target, failover, live, memoryUsed_mib, memoryFree_mib }
}

/** A guest on a node that is lost has nothing to lose. A migration that fails leaves its guest where it is. */
const stopsGuest = (op: MoveOp, { instance, primary }: InstanceView): boolean =>
  !op.cleanup && instance.admin_state === 'up' && !primary.offline && op.ignore_consistency !== true

function checkLayout(view: InstanceView, failover: boolean): void {
  const template = diskTemplateOf(view.config, view.instance)
  const templates = hasDisks(template) ? [...new Set(view.disks.map((disk) => disk.dev_type))] : [NO_DISKS]
  const wrong = templates.filter((one) => !isMirrored(one))
  if (wrong.length > 0)
    throw new OpPrereqError(
      `Instance's disk layout '${wrong.join(', ')}' does not allow ${failover ? 'failovers' : 'migrations'}`,
      ECODE.STATE,
    )
  if (!templates.every((one) => isMirroredOutside(one)) && templates.length > 1)
    throw new OpPrereqError(`Instance's disk layout '${templates.join(', ')}' mixes mirrored kinds`, ECODE.STATE)
}

async function targetOf(ctx: UnitContext, op: MoveOp, view: InstanceView): Promise<Node> {
  const { instance, primary } = view
  if (keepsMirrors(view)) return secondaryOf(op, view)
  const allocators = await allocatorsFor(ctx, 'relocate', view.config, op.iallocator, op.target_node)
  const target =
    allocators === undefined
      ? (await findNode(ctx, op.target_node ?? '', op.target_node_uuid)).object
      : await firstThatFinds(ctx, allocators, (allocator) => chooseTarget(ctx, allocator, instance))
  if (target.uuid === primary.uuid)
    throw new OpPrereqError(`Cannot migrate instance ${instance.name} to its primary (${primary.name})`, ECODE.STATE)
  checkNodeOnline(target)
  checkNodeVmCapable(target)
  await ctx.locks.keepOnly('node-res', [primary.uuid, target.uuid])
  await ctx.locks.keepOnly('node', [primary.uuid, target.uuid])
  return target
}

/** A DRBD instance can only go to the node with its other half. */
function secondaryOf(op: MoveOp, view: InstanceView): Node {
  const [secondary] = view.secondaries
  if (secondary === undefined)
    throw new OpPrereqError(`No secondary node but using drbd disk template for ${view.instance.name}`, ECODE.FAULT)
  if (op.iallocator !== undefined || (op.target_node !== undefined && op.target_node !== secondary.name))
    throw new OpPrereqError(
      `Instances with disk template drbd cannot be moved to arbitrary nodes (neither an iallocator nor a target node can be passed)`,
      ECODE.INVAL,
    )
  checkNodeOnline(secondary)
  return secondary
}

export async function checkTargetPolicy(
  ctx: UnitContext,
  view: InstanceView,
  target: Node,
  ignore: boolean,
): Promise<void> {
  const { config, instance } = view
  const group = (await ctx.config.read({ nodes: [target.uuid] })).nodegroups[target.group]
  const violations = instanceViolations(config, instance, fillIPolicy(config.cluster, group))
  if (violations.length === 0) return
  const text = `Instance does not meet target node group's (${group?.name ?? target.group}) instance policy: ${violations.join(', ')}`
  if (!ignore) throw new OpPrereqError(text, ECODE.STATE)
  ctx.log.warning(text)
}

async function memoryOn(ctx: UnitContext, view: InstanceView, target: Node, notNeeded: boolean): Promise<number> {
  if (notNeeded) {
    ctx.log.info('Not checking memory on the secondary node as instance will not be started')
    return 0
  }
  const { config, instance } = view
  const reason = `migrating instance ${instance.name}`
  const needed = minimumMemory(config, instance)
  return checkNodeFreeMemory(ctx, target, reason, needed, instance.hypervisor, hvParamsOf(view))
}

async function mustFailOver(ctx: UnitContext, view: InstanceView, fallback: boolean): Promise<boolean> {
  const result = await ctx.nodes.attempt(view.primary, 'instance_migratable', [dictOf(view)])
  if (result.ok) return false
  if (!fallback) throw new OpPrereqError(`Can't migrate, please use failover: ${result.error}`, ECODE.STATE)
  ctx.log.info("Can't migrate, instance offline, fallback to failover")
  return true
}

/** The job shows the mode, even if it comes from the hypervisor's parameters or from its older name. */
function isLive(ctx: UnitContext, op: MoveOp, view: InstanceView): boolean {
  if (op.live !== undefined && op.mode !== undefined)
    throw new OpPrereqError("Only one of the 'live' and 'mode' parameters are accepted", ECODE.INVAL)
  const input = op.live === undefined ? op.mode : op.live ? 'live' : 'non-live'
  const mode = input ?? fillHvParams(view.config.cluster, view.instance)['migration_mode']
  ctx.note({ mode, live: null })
  return mode === 'live'
}

async function memoryInUse(ctx: UnitContext, view: InstanceView, node: Node): Promise<number> {
  const { instance } = view
  const what = `Error checking instance on node ${node.name}`
  const args = [instance.name, instance.hypervisor, hvParamsOf(view)] as const
  const answer = await ctx.nodes.require(node, what, ECODE.ENVIRON, 'instance_info', [...args])
  return runtimeOf(answer)?.memory ?? 0
}
