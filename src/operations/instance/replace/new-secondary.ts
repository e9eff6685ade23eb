// Changes the secondary node. The new node gets volumes of the same names and an unconnected side of the mirror. Then
// the primary disconnects the old side, the configuration names the new node, and the two are connected.
import { change } from '../../../config/changes'
import type { DiskDict } from '../../../config/rpc-dicts'
import { drbdId } from '../../../config/lookup'
import type { Disk, LogicalId, Node } from '../../../model/config'
import { OpExecError } from '../../../model/errors'
import type { UnitContext } from '../../unit-context'
import { createDevice } from '../disks/files'
import { areNoted } from '../disks/noted'
import { Undo } from '../disks/undo'
import { dictOf, diskDictOf, diskDicts, reread, withNodes, type InstanceView } from '../view'
import type { NewSecondary } from './plan'
import { checkExistence, checkPeer, checkVolumeGroups, finish, STEPS, warnOfKept } from './steps'

export async function replaceSecondary(ctx: UnitContext, replacement: NewSecondary): Promise<void> {
  const { view, disks, target, secondary, earlyRelease } = replacement
  const { primary } = view
  ctx.log.step(1, STEPS, 'Check device existence')
  await checkExistence(ctx, view, disks, [primary])
  await checkVolumeGroups(ctx, view, [primary])
  ctx.log.step(2, STEPS, 'Check peer consistency')
  await checkPeer(ctx, view, disks, primary, true)
  const there: InstanceView = { ...view, config: await withNodes(ctx, view, [target.uuid]), secondaries: [target] }
  const volumes = (disk: Disk, index: number): [string, DiskDict[]] => [
    String(index),
    [...diskDictOf(view, disk).children],
  ]
  const old = { node: secondary, storage: view.disks.map(volumes) }
  const undo = new Undo(ctx)
  await undo.around(async () => {
    ctx.log.step(3, STEPS, 'Allocate new storage')
    await makeVolumes(ctx, there, replacement, undo)
    ctx.log.step(4, STEPS, 'Changing drbd configuration')
    const moved = await makeSides(ctx, there, replacement, undo)
    await dropOldSide(ctx, replacement, undo)
    ctx.log.info('Updating instance configuration')
    await nameSecondary(ctx, moved)
  })
  ctx.log.info('Attaching primary drbds to new secondary (standalone => connected)')
  await connect(ctx, await reread(ctx, view), replacement).catch((error: unknown) => {
    warnOfKept(ctx, old)
    throw error
  })
  await finish(ctx, { instance: view, disks, earlyRelease, old })
}

async function makeVolumes(ctx: UnitContext, view: InstanceView, { target }: NewSecondary, undo: Undo): Promise<void> {
  for (const [index, disk] of view.disks.entries()) {
    ctx.log.info(`Adding new local storage on ${target.name} for disk/${index}`)
    const dict = diskDictOf(view, disk)
    for (const [part, child] of disk.children.entries()) {
      const volume = dict.children[part] ?? dict
      // The names are the old ones: existing volumes may be somebody's data, so only new ones are removed.
      await createDevice(ctx, view, target, child, volume)
      undo.push(`remove volume ${child.logical_id.join('/')} on node ${target.name}`, () =>
        ctx.nodes.persist(target, 'blockdev_remove', [volume]),
      )
    }
  }
}

/** Changes the secondary node in the records of reserved disks, which are on no node yet. */
export async function reserveOn(ctx: UnitContext, { view, target }: NewSecondary): Promise<void> {
  await nameSecondary(ctx, await movedDisks(ctx, view, target))
}

const nameSecondary = (ctx: UnitContext, moved: readonly Disk[]) =>
  ctx.config.change(
    moved.map(({ uuid, logical_id, nodes }) => change('patchDisk', uuid, { logical_id, nodes })),
    areNoted(ctx, moved),
  )

async function movedDisks(ctx: UnitContext, view: InstanceView, target: Node): Promise<Disk[]> {
  const { wconfd, client } = ctx.env
  const moved: Disk[] = []
  for (const disk of view.disks) {
    const [minor = 0] = await wconfd.gantryReserveMinors(client, disk.uuid, [target.uuid])
    moved.push(withSecondary(view, disk, target.uuid, minor))
  }
  return moved
}

/** Makes the sides of the mirrors on the new node, not connected yet. Returns the disks as they will be. */
async function makeSides(
  ctx: UnitContext,
  view: InstanceView,
  { target }: NewSecondary,
  undo: Undo,
): Promise<readonly Disk[]> {
  const moved = await movedDisks(ctx, view, target)
  for (const [index, disk] of moved.entries()) {
    ctx.log.info(`activating a new drbd on ${target.name} for disk/${index}`)
    const dict = diskDictOf(view, disk)
    const alone = { ...dict, logical_id: dict.logical_id.map((part, at) => (at === PORT ? null : part)) }
    undo.push(`take down the new drbd of disk/${index} on node ${target.name}`, () =>
      ctx.nodes.persist(target, 'blockdev_shutdown', [dict]),
    )
    await createDevice(ctx, view, target, disk, alone)
  }
  return moved
}

/** The port's index in a DRBD disk's identity. */
const PORT = 2

function withSecondary({ primary }: InstanceView, disk: Disk, node: Disk['nodes'][number], minor: number): Disk {
  const id = drbdId(disk)
  if (id === undefined) throw new OpExecError(`Disk ${disk.uuid} is not a DRBD disk`)
  const own = id.nodeA === primary.uuid ? id.minorA : id.minorB
  const logical_id: LogicalId = [primary.uuid, node, id.port, own, minor, id.secret]
  return { ...disk, logical_id, nodes: [primary.uuid, node] }
}

async function dropOldSide(ctx: UnitContext, { view, secondary }: NewSecondary, undo: Undo): Promise<void> {
  const { primary } = view
  for (const [index, disk] of view.disks.entries()) {
    ctx.log.info(`Shutting down drbd for disk/${index} on old node`)
    const result = await ctx.nodes.attempt(secondary, 'blockdev_shutdown', [diskDictOf(view, disk)])
    if (!result.ok)
      ctx.log.warning(
        `Failed to shutdown drbd for disk/${index} on old node: ${result.error}`,
        'Please cleanup this device manually as soon as possible',
      )
    else
      undo.push(`activate disk/${index} on node ${secondary.name} again`, () =>
        ctx.nodes.persist(secondary, 'blockdev_assemble', [diskDictOf(view, disk), dictOf(view), false, index]),
      )
  }
  ctx.log.info('Detaching primary drbds from the network (=> standalone)')
  const what = "Can't detach the disks from the network on old node"
  await ctx.nodes.call(primary, what, 'drbd_disconnect_net', [diskDicts(view)])
  undo.push(`connect the disks of node ${primary.name} to node ${secondary.name} again`, () =>
    ctx.nodes.persist(primary, 'drbd_attach_net', [diskDicts(view), false]),
  )
}

async function connect(ctx: UnitContext, view: InstanceView, { target }: NewSecondary): Promise<void> {
  const nodes = [view.primary, target]
  const results = await ctx.nodes.many(nodes, 'drbd_attach_net', [diskDicts(view), false])
  const { name } = view.instance
  for (const node of nodes) {
    const result = results.get(node.uuid)
    if (result?.ok === true) continue
    throw new OpExecError(
      `Can't attach drbd disks on node ${node.name}: ${result?.error ?? 'no answer'} (please do a gnt-instance info ${name} to see ` +
        `the status of disks; gnt-instance activate-disks ${name} connects them)`,
    )
  }
}
