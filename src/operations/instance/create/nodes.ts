// The nodes of a new instance, given or chosen by an allocator, and checks of them.
import { fillHvParams, fillNdParams } from '../../../config/filled'
import type { ConfigData, Node } from '../../../model/config'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { factsOf, isMirroredInside } from '../../../model/templates'
import { findGroup, findNode } from '../../find'
import type { UnitContext } from '../../unit-context'
import {
  checkCanStartOn,
  checkNodeFreeMemory,
  checkNodeNotDrained,
  checkNodeOnline,
  checkNodeVmCapable,
} from '../checks'
import { checkFileSpace } from '../disks/file-space'
import { checkOutside } from '../disks/outside'
import { checkSpindles } from '../disks/spec'
import { checkCpuMask } from '../parameters/cpu-mask'
import { checkHvParamsOnNodes, checkOsParams } from '../parameters/params'
import { allocatorsFor, firstThatFinds } from '../placement/allocator'
import { chooseNodes, type PlacementRequest } from '../placement/placement'
import type { Content } from './content'
import { checkPolicy, type CreateOp, type Wanted } from './plan'

export interface InstanceNodes {
  readonly primary: Node
  /** The node of the mirror's other side. */
  readonly secondary: Node | undefined
}

export const listOf = ({ primary, secondary }: InstanceNodes): Node[] =>
  secondary === undefined ? [primary] : [primary, secondary]

/** The nodes that the opcode names. */
export async function givenNodes(ctx: UnitContext, op: CreateOp, mirrored: boolean): Promise<InstanceNodes> {
  const { object: primary } = await findNode(ctx, op.pnode ?? '', op.pnode_uuid)
  ctx.note({ pnode: primary.name, pnode_uuid: primary.uuid })
  if (!mirrored) return { primary, secondary: undefined }
  if (op.snode === undefined && op.snode_uuid === undefined)
    throw new OpPrereqError('The networked disk templates need a mirror node', ECODE.INVAL)
  const { object: secondary } = await findNode(ctx, op.snode ?? '', op.snode_uuid)
  ctx.note({ snode: secondary.name, snode_uuid: secondary.uuid })
  return { primary, secondary }
}

/** The nodes, given or chosen by the allocator. The locks of other nodes are released. */
export async function nodesFor(
  ctx: UnitContext,
  config: ConfigData,
  { op, wanted: desired, content }: { op: CreateOp; wanted: Wanted; content: Content },
): Promise<InstanceNodes> {
  const allocators = await allocatorsFor(ctx, 'allocate', config, op.iallocator, op.pnode)
  if (allocators === undefined) return givenNodes(ctx, op, isMirroredInside(desired.template))
  const request = await placementFor(ctx, op, desired)
  const [primary, secondary] = await firstThatFinds(ctx, allocators, (allocator) =>
    chooseNodes(ctx, allocator, request),
  )
  ctx.note({ pnode: primary.name, pnode_uuid: primary.uuid })
  if (secondary !== undefined) ctx.note({ snode: secondary.name, snode_uuid: secondary.uuid })
  const nodes = { primary, secondary }
  const uuids = listOf(nodes).map(({ uuid }) => uuid)
  const source = content.kind === 'export' ? [content.source.node.uuid] : []
  await ctx.locks.keepOnly('node-res', uuids)
  await ctx.locks.keepOnly('node', [...uuids, ...source])
  return nodes
}

/** What a new instance requires of its nodes. */
export async function placementFor(ctx: UnitContext, op: CreateOp, desired: Wanted): Promise<PlacementRequest> {
  const group = op.group_name === undefined ? undefined : (await findGroup(ctx, op.group_name)).object.name
  const { tags, ignore_ipolicy: ignorePolicy, opportunistic_locking: opportunistic } = op
  return { wanted: desired, tags, group, ignorePolicy, opportunistic, among: ctx.locks.holds('node') }
}

export async function checkOnNodes(
  ctx: UnitContext,
  config: ConfigData,
  op: CreateOp,
  desired: Wanted,
  nodes: InstanceNodes,
): Promise<void> {
  checkUsable(ctx, config, desired, nodes)
  const { primary } = nodes
  checkPolicy(config, desired, primary, op.ignore_ipolicy)
  if (factsOf(desired.template).empty === true && op.disks.length > 0)
    ctx.log.warning('An instance of the template diskless gets no disks; those given are ignored')
  const asked_mib = desired.disks.reduce((sum, { size }) => sum + size, 0)
  await checkFileSpace(ctx, { ...config, node: primary, template: desired.template }, asked_mib, op.ignore_ipolicy)
  const { hypervisor, hvparams, template } = desired
  await checkOutside(ctx, desired.disks, { config, primary, hypervisor, template })
  const os = op.os_type ?? ''
  const filled = fillHvParams(config.cluster, { hypervisor, os, hvparams })
  const disks = desired.disks.map(({ mode }) => ({ dev_type: template, mode }))
  const starting = { name: desired.name, hypervisor, hvparams: filled, vcpus: desired.be.vcpus, disks }
  await checkCpuMask(ctx, listOf(nodes), starting)
  await checkHvParamsOnNodes(ctx, listOf(nodes), hypervisor, filled)
  await checkCanStartOn(ctx, listOf(nodes), starting)
  await checkOsParams(ctx, listOf(nodes), { os }, desired.osparams, op.force_variant)
  if (desired.start)
    await checkNodeFreeMemory(ctx, primary, `creating instance ${desired.name}`, desired.be.minmem, hypervisor, filled)
}

function checkUsable(
  ctx: UnitContext,
  config: ConfigData,
  { template, disks }: Wanted,
  { primary, secondary }: InstanceNodes,
): void {
  const refuse = (what: string) => new OpPrereqError(`Cannot use ${what} primary node '${primary.name}'`, ECODE.STATE)
  if (primary.offline) throw refuse('offline')
  if (primary.drained) throw refuse('drained')
  if (!primary.vm_capable) throw refuse('non-vm_capable')
  if (secondary !== undefined) {
    if (secondary.uuid === primary.uuid)
      throw new OpPrereqError('The secondary node cannot be the primary node', ECODE.INVAL)
    checkNodeOnline(secondary)
    checkNodeNotDrained(secondary)
    checkNodeVmCapable(secondary)
    if (secondary.group !== primary.group)
      ctx.log.warning(
        "The primary and secondary nodes are in two different node groups; the disk parameters of the primary node's group are used",
      )
  }
  const exclusive = listOf({ primary, secondary }).find((node) => fillNdParams(config, node).exclusive_storage)
  if (factsOf(template).exclusive !== true && exclusive !== undefined)
    throw new OpPrereqError(
      `Disk template ${template} not supported with exclusive storage, which node '${exclusive.name}' has`,
      ECODE.STATE,
    )
  if (factsOf(template).exclusive === true || exclusive === undefined) checkSpindles(disks, exclusive !== undefined)
}
