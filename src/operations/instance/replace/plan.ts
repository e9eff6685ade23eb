// Decides which disks are replaced on which node, and whether that is safe.
import type { Disk, Node } from '../../../model/config'
import { LOCAL_DISK_STATUS } from '../../../model/constants/disks'
import { ECODE, OpPrereqError } from '../../../model/errors'
import type { OpInstanceReplaceDisks } from '../../../opcodes/instance'
import { isReserved } from '../../../model/instance'
import { isDrbd } from '../../../model/templates'
import { findNode } from '../../find'
import type { Op } from '../../logical-unit'
import type { UnitContext } from '../../unit-context'
import { checkNodeNotDrained, checkNodeOnline, checkNodeVmCapable } from '../checks'
import { checkVolumeSpace, volumeNeeds } from '../disks/volume-space'
import { checkTargetPolicy } from '../moves/plan'
import { allocatorsFor, firstThatFinds } from '../placement/allocator'
import { chooseSecondary } from '../placement/evacuation'
import { refuseSnapshots } from '../snapshots/notes'
import { allNodes, diskDictOf, readInstance, type InstanceView } from '../view'

export type ReplaceOp = Op<typeof OpInstanceReplaceDisks>

export interface IndexedDisk {
  readonly index: number
  readonly disk: Disk
}

interface Common {
  readonly view: InstanceView
  readonly secondary: Node
  readonly disks: readonly IndexedDisk[]
  /** The old storage is removed before the new one is in sync. */
  readonly earlyRelease: boolean
}

/** New volumes on the same node; `other` has the data meanwhile. */
export interface SameNode extends Common {
  readonly kind: 'same node'
  readonly target: Node
  readonly other: Node
}

/** The other side moves to another node. */
export interface NewSecondary extends Common {
  readonly kind: 'new secondary'
  readonly target: Node
}

export type Replacement = SameNode | NewSecondary | (Common & { readonly kind: 'nothing' })

export function checkArguments({ mode, remote_node, iallocator }: ReplaceOp): void {
  const refuse = (text: string) => new OpPrereqError(text, ECODE.INVAL)
  const input = remote_node !== undefined || iallocator !== undefined
  if (mode === 'replace_new_secondary' && !input)
    throw refuse('A new secondary node is either named or chosen by an allocator')
  if (mode !== 'replace_new_secondary' && input)
    throw refuse('A new node or an allocator is for a change of the secondary node only')
}

export async function planReplacement(ctx: UnitContext, op: ReplaceOp): Promise<Replacement> {
  const view = await readInstance(ctx, op, 'real or reserved')
  const secondary = secondaryOf(view)
  const common = { view, secondary, earlyRelease: op.early_release }
  const desired = wantedDisks(view, op)
  if (op.mode === 'replace_new_secondary') {
    const target = await newSecondary(ctx, op, view, secondary)
    const earlyRelease = releaseEarly(ctx, op, secondary)
    await refuseLost(ctx, view, desired, secondary)
    return { ...common, kind: 'new secondary', disks: desired, target, earlyRelease }
  }
  // Disks that do not exist yet have lost nothing.
  if (op.mode === 'replace_auto' && isReserved(view.instance)) return { ...common, kind: 'nothing', disks: [] }
  if (op.mode === 'replace_auto') return planRepair(ctx, common)
  const [target, other] = op.mode === 'replace_on_primary' ? [view.primary, secondary] : [secondary, view.primary]
  return sameNode(ctx, { ...common, kind: 'same node', disks: desired, target, other })
}

async function sameNode(ctx: UnitContext, replacement: SameNode): Promise<SameNode> {
  for (const node of [replacement.target, replacement.other]) checkNodeOnline(node)
  await refuseLost(ctx, replacement.view, replacement.disks, replacement.target)
  const needs = volumeNeeds(replacement.disks.map(({ disk }) => disk))
  await checkVolumeSpace(ctx, replacement.view.config, [replacement.target], needs)
  return replacement
}

/** Snapshots are lost with their volumes. An offline node keeps both. */
async function refuseLost(ctx: UnitContext, view: InstanceView, disks: readonly IndexedDisk[], node: Node) {
  if (node.offline) return
  const own = disks.map(({ disk }) => disk)
  await refuseSnapshots(ctx, view, own, `its volumes on node ${node.name} cannot be replaced`, node.uuid)
}

function secondaryOf(view: InstanceView): Node {
  const { disks, secondaries } = view
  const [secondary] = secondaries
  if (secondary === undefined || secondaries.length !== 1)
    throw new OpPrereqError(
      `The instance has a strange layout, expected one secondary but found ${secondaries.length}`,
      ECODE.FAULT,
    )
  if (!disks.every(({ dev_type }) => isDrbd(dev_type)))
    throw new OpPrereqError('Can only run replace disks for DRBD8-based instances', ECODE.INVAL)
  return secondary
}

function wantedDisks({ disks }: InstanceView, op: ReplaceOp): IndexedDisk[] {
  if (op.disks.length > 0 && (op.mode === 'replace_auto' || op.mode === 'replace_new_secondary'))
    throw new OpPrereqError('Cannot specify disks to be replaced', ECODE.INVAL)
  const indices = op.disks.length === 0 ? [...disks.keys()] : [...new Set(op.disks)].sort((a, b) => a - b)
  return indices.map((index) => {
    const disk = disks[index]
    if (disk === undefined)
      throw new OpPrereqError(`Invalid disk index: ${index} (instance has disks 0 to ${disks.length - 1})`, ECODE.INVAL)
    return { index, disk }
  })
}

async function newSecondary(ctx: UnitContext, op: ReplaceOp, view: InstanceView, secondary: Node): Promise<Node> {
  const allocators = await allocatorsFor(ctx, 'relocate', view.config, op.iallocator, op.remote_node)
  const target =
    allocators === undefined
      ? (await findNode(ctx, op.remote_node ?? '', op.remote_node_uuid)).object
      : await firstThatFinds(ctx, allocators, (allocator) => chooseSecondary(ctx, allocator, view.instance))
  ctx.note({ remote_node: target.name, remote_node_uuid: target.uuid })
  if (target.uuid === view.primary.uuid)
    throw new OpPrereqError('The specified node is the primary node of the instance', ECODE.INVAL)
  if (target.uuid === secondary.uuid)
    throw new OpPrereqError('The specified node is already the secondary node of the instance', ECODE.INVAL)
  checkNodeNotDrained(target)
  checkNodeVmCapable(target)
  await checkTargetPolicy(ctx, view, target, op.ignore_ipolicy)
  for (const node of [target, view.primary]) checkNodeOnline(node)
  const touched = [view.primary, secondary, target].map(({ uuid }) => uuid)
  await ctx.locks.keepOnly('node', touched)
  await ctx.locks.keepOnly('node-res', touched)
  const config = await ctx.config.read({ nodes: touched })
  await checkVolumeSpace(ctx, config, [target], volumeNeeds(view.disks))
  return target
}

function releaseEarly(ctx: UnitContext, op: ReplaceOp, secondary: Node): boolean {
  if (!secondary.offline || op.early_release) return op.early_release
  ctx.log.info(`Old secondary ${secondary.name} is offline, automatically enabling early-release mode`)
  return true
}

/** The disks that have lost their data on one of the two nodes. */
async function planRepair(ctx: UnitContext, common: Omit<Common, 'disks'>): Promise<Replacement> {
  const { view, secondary } = common
  await checkActive(ctx, view)
  const [onPrimary, onSecondary] = [await faulty(ctx, view, view.primary), await faulty(ctx, view, secondary)]
  if (onPrimary.length > 0 && onSecondary.length > 0)
    throw new OpPrereqError(
      `Instance ${view.instance.name} has faulty disks on more than one node and can not be repaired automatically`,
      ECODE.STATE,
    )
  if (onPrimary.length > 0)
    return sameNode(ctx, {
      ...{ ...common, kind: 'same node', disks: onPrimary },
      ...{ target: view.primary, other: secondary },
    })
  if (onSecondary.length > 0)
    return sameNode(ctx, {
      ...{ ...common, kind: 'same node', disks: onSecondary },
      ...{ target: secondary, other: view.primary },
    })
  return { ...common, kind: 'nothing', disks: [] }
}

async function checkActive(ctx: UnitContext, view: InstanceView): Promise<void> {
  for (const [index, disk] of view.disks.entries())
    for (const node of allNodes(view)) {
      ctx.log.info(`Checking disk/${index} on ${node.name}`)
      const found = await ctx.nodes.attempt(node, 'blockdev_find', [diskDictOf(view, disk)])
      // An offline node can be neither asked nor repaired.
      if ((found.ok && found.payload !== null) || node.offline) continue
      throw new OpPrereqError(`Please run activate-disks on instance ${view.instance.name} first`, ECODE.STATE)
    }
}

async function faulty(ctx: UnitContext, view: InstanceView, node: Node): Promise<IndexedDisk[]> {
  if (node.offline) return []
  const states = await ctx.nodes.require(
    node,
    `Failed to get disk status from node '${node.name}'`,
    ECODE.ENVIRON,
    'blockdev_getmirrorstatus',
    [view.disks.map((disk) => diskDictOf(view, disk))],
  )
  return view.disks.flatMap((disk, index) =>
    states[index]?.ldisk_status === LOCAL_DISK_STATUS.faulty ? [{ index, disk }] : [],
  )
}
