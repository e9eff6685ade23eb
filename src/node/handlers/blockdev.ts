// Node calls about disks. `node/storage` knows their effect on a tree of disks and for each template.
import type { BlockDeviceStatus, DiskDict } from '../../rpc/node/dicts'
import { mapBounded } from '../../lib/work/bounded'
import { DISKS_AT_ONCE } from '../../model/limits/storage'
import { messageOf } from '../../rpc/node/protocol'
import type { Handlers, NodeContext } from '../context'
import { NodeFailure, fail } from '../failure'
import { forgetDevice, noteDevice } from '../storage/bdev-cache'
import { copyDevice, copyDifferences, writeImage } from '../storage/image'
import { linkDisk, removeLinks } from '../storage/links'
import { Disks } from '../storage/disks'
import { nameOf } from '../storage/name'

export const blockdevHandlers = {
  async blockdev_create(context, disk, size_mib, owner, onPrimary, info, exclusive) {
    const { id, device } = await new Disks(context).createAndUse(disk, size_mib, { onPrimary, info, exclusive })
    if (device !== undefined) await noteDevice(context, device.path, owner, onPrimary, disk.iv_name)
    return id
  },

  async blockdev_assemble(context, disk, instance, onPrimary, index) {
    const device = await new Disks(context).assembleFor(disk, onPrimary)
    if (device === undefined) return [true, true]
    await noteDevice(context, device.path, instance.name, onPrimary, disk.iv_name)
    if (!onPrimary) return [context.paths.virtual(device.path), null, null]
    const { link, uri } = await linkDisk(context, instance.name, disk, index, device)
    return [context.paths.virtual(device.path), context.paths.virtual(link), uri ?? null]
  },

  async blockdev_shutdown(context, disk) {
    for (const path of await new Disks(context).shutdown(disk)) await forgetDevice(context, path)
    return null
  },

  async blockdev_open(context, instanceName, disks, exclusive) {
    const trees = new Disks(context)
    for (const [index, disk] of disks.entries())
      await linkDisk(context, instanceName, disk, index, await trees.open(disk, exclusive))
    return null
  },

  async blockdev_close(context, instanceName, disks) {
    const trees = new Disks(context)
    await forEachOrFail("Can't close devices", disks, (disk) => trees.close(disk))
    if (instanceName !== '') await removeLinks(context, instanceName, disks.length)
    return null
  },

  async blockdev_remove(context, disk) {
    for (const device of await new Disks(context).remove(disk)) await forgetDevice(context, device.path)
    return null
  },

  async blockdev_grow(context, disk, amount_mib, dryRun, backing, exclusive) {
    await new Disks(context).grow(disk, amount_mib, { dryRun, backing, exclusive })
    return null
  },

  async blockdev_wipe(context, disk, offset, size) {
    await new Disks(context).wipe(disk, offset, size)
    return null
  },

  async blockdev_image(context, disk, image, size_mib) {
    await writeImage(context, disk, image, size_mib)
    return null
  },

  async blockdev_convert(context, from, to) {
    const disks = new Disks(context)
    for (const disk of [from, to]) await disks.opened(disk)
    await requireRoom(context, disks, from, to)
    const copy = (source: string, target: string) => copyDevice(context.files, source, target, context.caller)
    await disks.lent(from, (source) => disks.lent(to, (target) => copy(source, target)))
    return null
  },

  async blockdev_rename(context, renames) {
    for (const device of await new Disks(context).rename(renames)) await forgetDevice(context, device.path)
    return null
  },

  async blockdev_setinfo(context, disk, info) {
    await new Disks(context).setInfo(disk, info)
    return null
  },

  blockdev_snapshot: async (context, disk, name, size) => new Disks(context).snapshot(disk, name, size),

  async gantry_snapshot_restore(context, disk, snapshot) {
    const disks = new Disks(context)
    for (const one of [snapshot, disk]) await disks.opened(one)
    const copy = (from: string, to: string) => copyDifferences(context.files, from, to, context.caller)
    await disks.lent(snapshot, (from) => disks.lent(disk, (to) => copy(from, to)))
    return null
  },

  async gantry_snapshot_problem(context, disks) {
    const all = new Disks(context)
    for (const disk of disks) {
      const problem = await all.snapshotProblem(disk)
      if (problem !== null) return problem
    }
    return null
  },

  blockdev_find: async (context, disk) => (await new Disks(context).status(disk)) ?? null,

  async blockdev_getmirrorstatus(context, disks) {
    const trees = treesOf(context, disks)
    return mapBounded(disks, DISKS_AT_ONCE, (disk) => requireStatus(trees, disk))
  },

  blockdev_getmirrorstatus_multi(context, disks) {
    const trees = treesOf(context, disks)
    const status = async (disk: DiskDict): Promise<[true, BlockDeviceStatus] | [false, string]> => {
      try {
        return [true, await requireStatus(trees, disk)]
      } catch (error) {
        return [false, messageOf(error)]
      }
    }
    return mapBounded(disks, DISKS_AT_ONCE, status)
  },

  async blockdev_getdimensions(context, disks) {
    const trees = treesOf(context, disks)
    return mapBounded(disks, DISKS_AT_ONCE, (disk) => sizeOf(context, trees, disk))
  },
} satisfies Partial<Handlers>

/** For calls that use all of these disks. */
function treesOf(context: NodeContext, disks: readonly DiskDict[]): Disks {
  const trees = new Disks(context)
  trees.expect(disks)
  return trees
}

/** Checks the sizes before anything is written. If a size is not known, the copy itself fails later if the disk is too small. */
async function requireRoom(context: NodeContext, disks: Disks, from: DiskDict, to: DiskDict): Promise<void> {
  const [needed, there] = await Promise.all([from, to].map((disk) => sizeOf(context, disks, disk)))
  if (needed && there && needed[0] > there[0])
    fail(
      `Disk ${nameOf(from)} has ${needed[0]} bytes on node ${context.hostname}, and disk ${nameOf(to)} only ${there[0]}, so its end would be ` +
        'lost: gnt-cluster repair-disk-sizes records its size',
    )
}

/** Returns null if the disk is missing or its size is not known. */
async function sizeOf(context: NodeContext, trees: Disks, disk: DiskDict): Promise<[number, number | null] | null> {
  const found = await trees.dimensions(disk).catch((error: unknown) => ignored(context, error))
  return found ? [found.size_bytes, found.spindles] : null
}

async function requireStatus(trees: Disks, disk: DiskDict): Promise<BlockDeviceStatus> {
  return (await trees.status(disk, { combined: true })) ?? fail(trees.missing(disk))
}

/** Tries all, then fails with the list of failures. */
async function forEachOrFail<T>(what: string, all: readonly T[], work: (one: T) => Promise<unknown>) {
  const failures: string[] = []
  for (const one of all) {
    try {
      await work(one)
    } catch (error) {
      if (!(error instanceof NodeFailure)) throw error
      failures.push(error.message)
    }
  }
  if (failures.length > 0) fail(`${what}: ${failures.join(', ')}`)
}

function ignored({ log }: NodeContext, error: unknown): undefined {
  if (!(error instanceof NodeFailure)) throw error
  log.warn({ error: error.message }, 'the size of a disk is not known')
}
