// Node calls about disks: what each means for a tree of disks, and for its template, is in `node/storage`.
import type { BlockDeviceStatus, DiskDict } from '../../rpc/node/dicts'
import { messageOf } from '../../rpc/node/protocol'
import type { Handlers, NodeContext } from '../context'
import { fail } from '../failure'
import { forgetDevice, noteDevice } from '../storage/bdev-cache'
import { copyDevice, writeImage } from '../storage/image'
import { linkDisk, removeLinks } from '../storage/links'
import { Disks } from '../storage/disks'

/** Local disk status "ok": what a storage without mirroring always has. */
const STATUS_OK = 1

export const blockdevHandlers = {
  async blockdev_create(context, disk, size, owner, onPrimary) {
    const disks = new Disks(context)
    await disks.create(disk, size)
    if (onPrimary) {
      const device = await disks.assemble(disk)
      await noteDevice(context, device.path, owner, true, disk.iv_name ?? '')
    }
    return disk.logical_id ?? null
  },

  async blockdev_assemble(context, disk, instance, onPrimary, index) {
    // A secondary node of a template without mirroring has nothing to prepare.
    if (!onPrimary) return [true, true]
    const linked = await linkDisk(context, instance, disk, index)
    const device = await new Disks(context).assemble(disk)
    await noteDevice(context, device.path, instance.name, true, disk.iv_name ?? '')
    return [context.paths.virtual(device.path), context.paths.virtual(linked.link), linked.uri ?? null]
  },

  async blockdev_shutdown(context, disk) {
    const device = await new Disks(context).find(disk)
    await new Disks(context).shutdown(disk)
    if (device) await forgetDevice(context, device.path)
    return null
  },

  async blockdev_open(context, instanceName, disks, exclusive) {
    for (const [index, disk] of disks.entries()) {
      await new Disks(context).open(disk, exclusive)
      await linkDisk(context, { name: instanceName }, disk, index)
    }
    return null
  },

  async blockdev_close(context, instanceName, disks) {
    for (const disk of disks) await new Disks(context).close(disk)
    await removeLinks(context, instanceName, disks.length)
    return null
  },

  async blockdev_remove(context, disk) {
    const device = await new Disks(context).find(disk)
    await new Disks(context).remove(disk)
    if (device) await forgetDevice(context, device.path)
    return null
  },

  async blockdev_grow(context, disk, amount, dryRun, backingStore) {
    await new Disks(context).grow(disk, amount, { dryRun, backing: backingStore })
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
    const [source, target] = [await new Disks(context).assemble(from), await new Disks(context).assemble(to)]
    await copyDevice(context.files, source.path, target.path)
    return null
  },

  async blockdev_rename(context, devices) {
    for (const [disk, newId] of devices) await new Disks(context).rename(disk, newId)
    return null
  },

  async blockdev_setinfo(context, disk, info) {
    await requireDevice(context, disk)
    await new Disks(context).setInfo(disk, info)
    return null
  },

  blockdev_snapshot: async (context, disk, name, size) => new Disks(context).snapshot(disk, name, size),

  blockdev_find: async (context, disk) => (await statusOf(context, disk)) ?? null,

  async blockdev_getmirrorstatus(context, disks) {
    return Promise.all(disks.map((disk) => requireStatus(context, disk)))
  },

  blockdev_getmirrorstatus_multi(context, disks) {
    const status = async (disk: DiskDict): Promise<[true, BlockDeviceStatus] | [false, string]> => {
      try {
        return [true, await requireStatus(context, disk)]
      } catch (error) {
        return [false, messageOf(error)]
      }
    }
    return Promise.all(disks.map(status))
  },

  async blockdev_getdimensions(context, disks) {
    const dimensions = async (disk: DiskDict): Promise<[number, number | null] | null> => {
      const found = await new Disks(context).dimensions(disk)
      return found ? [found.size_bytes, found.spindles] : null
    }
    return Promise.all(disks.map(dimensions))
  },

  /** Nothing synchronizes here, so there is nothing to pause, and a disk that exists is in the wanted state. */
  async blockdev_pause_resume_sync(context, disks) {
    const state = async (disk: DiskDict): Promise<[boolean, string | null]> =>
      (await new Disks(context).find(disk)) ? [true, null] : [false, missing(disk)]
    return Promise.all(disks.map(state))
  },
} satisfies Partial<Handlers>

async function statusOf(context: NodeContext, disk: DiskDict): Promise<BlockDeviceStatus | undefined> {
  const device = await new Disks(context).find(disk)
  if (device === undefined) return undefined
  return { dev_path: context.paths.virtual(device.path), is_degraded: false, ldisk_status: STATUS_OK }
}

async function requireStatus(context: NodeContext, disk: DiskDict): Promise<BlockDeviceStatus> {
  return (await statusOf(context, disk)) ?? fail(missing(disk))
}

async function requireDevice(context: NodeContext, disk: DiskDict): Promise<void> {
  if ((await new Disks(context).find(disk)) === undefined) fail(missing(disk))
}

const missing = (disk: DiskDict): string =>
  `Can't find device ${disk.iv_name ?? disk.uuid} (${JSON.stringify(disk.logical_id ?? null)})`
