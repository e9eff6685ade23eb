// Converts disks on one node to mirrors, and back: the data volumes stay, under new names.
import { change } from '../../../config/changes'
import { nodesOfGroup, shownPlace } from '../../../config/lookup'
import type { Disk, Node } from '../../../model/config'
import { BUILTIN_IALLOCATOR } from '../../../model/constants/words'
import { carriedTo } from '../../../model/disk-parameters'
import { ECODE, OpExecError, OpPrereqError } from '../../../model/errors'
import { answer } from '../../../allocation/questions/answer'
import { isDrbd, isMirroredInside } from '../../../model/templates'
import { findNode } from '../../find'
import { askScript } from '../../iallocator/ask'
import { exclusive } from '../../logical-unit'
import type { Want } from '../../lock-session'
import type { UnitContext } from '../../unit-context'
import { checkNodeNotDrained, checkNodeOnline, checkNodeVmCapable } from '../checks'
import { checkTargetPolicy } from '../moves/plan'
import type { SetOp } from '../parameters/set-op'
import { clusterNow } from '../placement/allocator'
import { allNodes, diskDictOf, readInstance, withNodes, type InstanceView } from '../view'
import { createDevice } from './files'
import { returnPorts, withIdentities } from './new-disks'
import { areNoted } from './noted'
import { renameBack } from './rename-back'
import { Undo } from './undo'
import { checkVolumeSpace, volumeNeeds } from './volume-space'

const MIB = 1 << 20

const becomesMirror = ({ disk_template: template }: SetOp): boolean =>
  template !== undefined && isMirroredInside(template)

/** Locks of nodes for a conversion; undefined if the instance's locks are enough. */
export async function conversionLocks(ctx: UnitContext, op: SetOp): Promise<Want | undefined> {
  if (!becomesMirror(op)) return undefined
  const view = await readInstance(ctx, op)
  const own = allNodes(view).map(({ uuid }) => uuid)
  if (op.iallocator !== undefined) {
    const group = nodesOfGroup(await ctx.config.read({ nodes: 'all' }), view.primary.group)
    return exclusive([...new Set([...own, ...group.map(({ uuid }) => uuid)])])
  }
  if (op.remote_node === undefined) return undefined
  const { object } = await findNode(ctx, op.remote_node, op.remote_node_uuid)
  return exclusive([...new Set([...own, object.uuid])])
}

/** The node for the other side; undefined if the new template needs none. */
export async function secondaryFor(ctx: UnitContext, view: InstanceView, op: SetOp): Promise<Node | undefined> {
  if (!becomesMirror(op)) return undefined
  if (op.remote_node === undefined && op.iallocator === undefined)
    throw new OpPrereqError(
      'Changing the disk template to a mirrored one requires specifying a secondary node or an allocator',
      ECODE.INVAL,
    )
  if (op.remote_node !== undefined && op.iallocator !== undefined)
    throw new OpPrereqError('Do not specify both, iallocator and node', ECODE.INVAL)
  const secondary =
    op.iallocator === undefined
      ? (await findNode(ctx, op.remote_node ?? '', op.remote_node_uuid)).object
      : await chosenSecondary(ctx, view, op.iallocator)
  ctx.note({ remote_node: secondary.name, remote_node_uuid: secondary.uuid })
  if (secondary.uuid === view.primary.uuid)
    throw new OpPrereqError(
      `Given new secondary node ${secondary.name} is the same as the primary node of the instance`,
      ECODE.STATE,
    )
  checkNodeOnline(secondary)
  checkNodeNotDrained(secondary)
  checkNodeVmCapable(secondary)
  await checkTargetPolicy(ctx, view, secondary, op.ignore_ipolicy)
  if (secondary.group !== view.primary.group)
    ctx.log.warning(
      "The primary and secondary nodes are in two different node groups; the disk parameters of the primary node's group are used",
    )
  return secondary
}

async function chosenSecondary(ctx: UnitContext, view: InstanceView, allocator: string): Promise<Node> {
  const { name } = view.instance
  const request = { type: 'allocate-secondary', name } as const
  const refuse = (why: string) =>
    new OpPrereqError(`Can't find secondary node using iallocator ${allocator}: ${why}`, ECODE.NORES)
  if (allocator !== BUILTIN_IALLOCATOR) {
    const { result } = await askScript(ctx, allocator, { what: 'a secondary node', request, templates: ['drbd'] })
    if (typeof result !== 'string') throw refuse('its answer is not the name of a node')
    return (await findNode(ctx, result)).object
  }
  const { model, options } = await clusterNow(ctx, ['drbd'])
  const { success, info, result } = answer(model, request, options)
  if (!success || typeof result !== 'string') throw refuse(info)
  return (await findNode(ctx, result)).object
}

/** The size of a mirror is in whole MiB, and it takes the volume as it is. */
export function checkWholeSizes({ disks, primary }: InstanceView, bytes: readonly (number | undefined)[]): void {
  for (const [index, { size }] of disks.entries()) {
    const real_mib = (bytes[index] ?? Number.NaN) / MIB
    if (Number.isNaN(real_mib))
      throw new OpPrereqError(
        `Disk ${index} has no size that node ${primary.name} tells, and a mirror could cut off its end: see whether the volume is there`,
        ECODE.ENVIRON,
      )
    const refuse = (way: string) =>
      new OpPrereqError(
        `Disk ${index} has ${real_mib} MiB on node ${primary.name}, and ${size} in the configuration: ${way}`,
        ECODE.STATE,
      )
    if (real_mib < size) throw refuse('gnt-cluster repair-disk-sizes records its size')
    if (!Number.isInteger(real_mib))
      throw refuse(
        'a mirror would cut off the last part of a MiB; gnt-instance grow-disk makes it larger, until it is whole MiB',
      )
  }
}

/** Checks the room for new volumes: the primary node already has the data. */
export async function checkMirrorSpace(
  ctx: UnitContext,
  view: InstanceView,
  secondary: Node,
  disks: readonly Disk[],
): Promise<void> {
  const config = await withNodes(ctx, view, [secondary.uuid])
  await checkVolumeSpace(ctx, config, [secondary], volumeNeeds(disks))
  const metadata = disks.flatMap(({ children }) => children.slice(1))
  await checkVolumeSpace(ctx, config, [view.primary], volumeNeeds(metadata))
}

/** Returns the new disks, which have replaced the old ones in the configuration. */
export async function plainToDrbd(
  ctx: UnitContext,
  view: InstanceView,
  planned: readonly Disk[],
  secondary: Node,
): Promise<void> {
  const there = { ...view, config: await withNodes(ctx, view, [secondary.uuid]) }
  const disks = await withIdentities(ctx, planned)
  const undo = new Undo(ctx)
  undo.push('return the ports of the disks', async () => {
    await returnPorts(ctx, disks)
    return { ok: true, payload: null }
  })
  await undo.around(async () => {
    ctx.log.say('Creating additional volumes...')
    await makeMissing(ctx, there, disks, secondary, undo)
    ctx.log.say('Renaming original volumes...')
    await renameData(ctx, there, disks, undo)
    ctx.log.say('Initializing DRBD devices...')
    for (const disk of disks)
      for (const node of [view.primary, secondary]) {
        const dict = diskDictOf(there, disk)
        undo.push(`end the new drbd of ${disk.iv_name} on node ${node.name}`, () =>
          ctx.nodes.persist(node, 'blockdev_shutdown', [dict]),
        )
        await createDevice(ctx, there, node, disk, dict)
      }
    await ctx.config.change(exchange(view, disks), areNoted(ctx, disks))
  })
}

async function makeMissing(
  ctx: UnitContext,
  view: InstanceView,
  disks: readonly Disk[],
  secondary: Node,
  undo: Undo,
): Promise<void> {
  for (const disk of disks) {
    const dict = diskDictOf(view, disk)
    const make = async (node: Node, part: number): Promise<void> => {
      const [volume, sent] = [disk.children[part], dict.children[part]]
      if (volume === undefined || sent === undefined) return
      undo.push(`remove volume ${volume.logical_id.join('/')} on node ${node.name}`, () =>
        ctx.nodes.persist(node, 'blockdev_remove', [sent]),
      )
      await createDevice(ctx, view, node, volume, sent, true)
    }
    await make(view.primary, 1)
    await make(secondary, 0)
    await make(secondary, 1)
  }
}

async function renameData(ctx: UnitContext, view: InstanceView, disks: readonly Disk[], undo: Undo): Promise<void> {
  const { primary } = view
  const pairs = view.disks.flatMap((old, index) => {
    const [data] = disks[index]?.children ?? []
    // A volume that was part of a mirror before already has its name.
    return data === undefined || data.logical_id.join() === old.logical_id.join() ? [] : [{ old, data }]
  })
  if (pairs.length === 0) return
  const there = pairs.map(({ old, data }) => [diskDictOf(view, old), data.logical_id] as const)
  const back = pairs.map(({ old, data }) => {
    return [diskDictOf(view, { ...old, logical_id: data.logical_id }), old.logical_id] as const
  })
  undo.push(`give the volumes of the disks on node ${primary.name} their names back`, () =>
    renameBack(ctx, primary, back),
  )
  const result = await ctx.nodes.attempt(primary, 'blockdev_rename', [there.map(([dict, id]) => [dict, id])])
  if (!result.ok) throw new OpExecError(`Failed to rename original LVs: ${result.error}`)
}

const exchange = ({ instance, disks: before }: InstanceView, after: readonly Disk[]) => [
  ...before.map((disk) => change('removeInstanceDisk', instance.uuid, disk.uuid)),
  ...after.map((disk, index) => change('addInstanceDisk', instance.uuid, disk, index)),
]

/** What remains of mirrors: the data volumes on the primary node. */
export const dataDisks = ({ disks, primary }: InstanceView): Disk[] =>
  disks.flatMap(({ children: [data], iv_name, size, mode, name, params: own }) => {
    if (data === undefined) return []
    const params = { ...data.params, ...carriedTo(own, data.dev_type) }
    return [{ ...data, iv_name, size, mode, params, ...(name !== undefined && { name }), nodes: [primary.uuid] }]
  })

export async function drbdToPlain(ctx: UnitContext, view: InstanceView, disks: readonly Disk[]): Promise<void> {
  await ctx.config.change(exchange(view, disks), areNoted(ctx, disks))
  const mirrors = view.disks.filter(({ dev_type }) => isDrbd(dev_type))
  const remove = async (node: Node, one: Disk, dict: ReturnType<typeof diskDictOf>): Promise<void> => {
    const result = await ctx.nodes.attempt(node, 'blockdev_remove', [dict])
    if (!result.ok) ctx.log.warning(`Could not remove disk ${shownPlace(one)} on node ${node.name}: ${result.error}`)
  }
  ctx.log.say('Removing volumes on the secondary node...')
  for (const disk of mirrors) for (const node of view.secondaries) await remove(node, disk, diskDictOf(view, disk))
  ctx.log.say('Removing unneeded volumes on the primary node...')
  for (const disk of mirrors)
    for (const [part, volume] of disk.children.entries()) {
      const dict = diskDictOf(view, disk).children[part]
      if (part > 0 && dict !== undefined) await remove(view.primary, volume, dict)
    }
}
