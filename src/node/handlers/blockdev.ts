// Node calls about disks: each finds the storage of the disk's template and lets that do it.
import type { BlockDeviceStatus, DiskDict } from '../../rpc/node/dicts'
import { messageOf } from '../../rpc/node/protocol'
import type { Handlers, NodeContext } from '../context'
import { fail } from '../context'
import { forgetDevice, noteDevice } from '../storage/bdev-cache'
import { copyDevice, writeImage } from '../storage/image'
import { linkDisk, removeLinks } from '../storage/links'
import { storageFor } from '../storage/registry'
import type { Storage } from '../storage/storage'

/** Local disk status "ok": what a storage without mirroring always has. */
const STATUS_OK = 1

export const blockdevHandlers = {
  async blockdev_create(context, disk, size, owner, onPrimary) {
    const storage = of(context, disk)
    await storage.create(disk, size)
    if (onPrimary) {
      const device = await storage.assemble(disk)
      await noteDevice(context, device.path, owner, true, disk.iv_name ?? '')
    }
    return disk.logical_id ?? null
  },

  async blockdev_assemble(context, disk, instance, onPrimary, index) {
    // A secondary node of a template without mirroring has nothing to prepare.
    if (!onPrimary) return [true, true]
    const linked = await linkDisk(context, instance, disk, index)
    const device = await of(context, disk).assemble(disk)
    await noteDevice(context, device.path, instance.name, true, disk.iv_name ?? '')
    return [context.paths.virtual(device.path), context.paths.virtual(linked.link), linked.uri ?? null]
  },

  async blockdev_shutdown(context, disk) {
    const device = await of(context, disk).find(disk)
    await of(context, disk).shutdown(disk)
    if (device) await forgetDevice(context, device.path)
    return null
  },

  async blockdev_open(context, instanceName, disks, exclusive) {
    for (const [index, disk] of disks.entries()) {
      await of(context, disk).open(disk, exclusive)
      await linkDisk(context, { name: instanceName }, disk, index)
    }
    return null
  },

  async blockdev_close(context, instanceName, disks) {
    for (const disk of disks) await of(context, disk).close(disk)
    await removeLinks(context, instanceName, disks.length)
    return null
  },

  async blockdev_remove(context, disk) {
    const device = await of(context, disk).find(disk)
    await of(context, disk).remove(disk)
    if (device) await forgetDevice(context, device.path)
    return null
  },

  async blockdev_grow(context, disk, amount, dryRun, backingStore) {
    // With files the backing store is the disk itself; the second round, for what lies above it, has nothing to do.
    if (backingStore || dryRun) await of(context, disk).grow(disk, amount, dryRun)
    return null
  },

  async blockdev_wipe(context, disk, offset, size) {
    await of(context, disk).wipe(disk, offset, size)
    return null
  },

  async blockdev_image(context, disk, image, size_mib) {
    await writeImage(context, disk, image, size_mib)
    return null
  },

  async blockdev_convert(context, from, to) {
    const [source, target] = [await of(context, from).assemble(from), await of(context, to).assemble(to)]
    await copyDevice(context.files, source.path, target.path)
    return null
  },

  async blockdev_rename(context, devices) {
    for (const [disk, newId] of devices) await of(context, disk).rename(disk, newId)
    return null
  },

  async blockdev_setinfo(context, disk, info) {
    await requireDevice(context, disk)
    await of(context, disk).setInfo(disk, info)
    return null
  },

  blockdev_snapshot: async (context, disk, name, size) => of(context, disk).snapshot(disk, name, size),

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
      const found = await of(context, disk).dimensions(disk)
      return found ? [found.size_bytes, found.spindles] : null
    }
    return Promise.all(disks.map(dimensions))
  },

  /** Nothing synchronizes here, so there is nothing to pause, and a disk that exists is in the wanted state. */
  async blockdev_pause_resume_sync(context, disks) {
    const state = async (disk: DiskDict): Promise<[boolean, string | null]> =>
      (await of(context, disk).find(disk)) ? [true, null] : [false, missing(disk)]
    return Promise.all(disks.map(state))
  },
} satisfies Partial<Handlers>

const of = (context: NodeContext, disk: DiskDict): Storage => storageFor(context, disk.dev_type)

async function statusOf(context: NodeContext, disk: DiskDict): Promise<BlockDeviceStatus | undefined> {
  const device = await of(context, disk).find(disk)
  if (device === undefined) return undefined
  return { dev_path: context.paths.virtual(device.path), is_degraded: false, ldisk_status: STATUS_OK }
}

async function requireStatus(context: NodeContext, disk: DiskDict): Promise<BlockDeviceStatus> {
  return (await statusOf(context, disk)) ?? fail(missing(disk))
}

async function requireDevice(context: NodeContext, disk: DiskDict): Promise<void> {
  if ((await of(context, disk).find(disk)) === undefined) fail(missing(disk))
}

const missing = (disk: DiskDict): string =>
  `Can't find device ${disk.iv_name ?? disk.uuid} (${JSON.stringify(disk.logical_id ?? null)})`
