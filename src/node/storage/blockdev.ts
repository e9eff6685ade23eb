// Block devices that exist before their instance and stay after it. This driver never makes, grows, renames or deletes one.
import type { DiskDict } from '../../rpc/node/dicts'
import { isMissing } from '../../lib/disk'
import { ADOPTABLE_BLOCKDEV_ROOT, BLOCKDEV_DRIVER } from '../../model/constants/disks'
import { fail } from '../failure'
import { blockDevice, blockDeviceSize } from './block-device'
import type { Device, Driver, DriverFactory, StorageContext } from './storage'

const MIB = 1 << 20

export const blockdevDriver: DriverFactory = (context): Driver => {
  async function find(disk: DiskDict): Promise<Device | undefined> {
    const path = pathOf(disk)
    const found = await blockDevice(context, path)
    if (found === 'missing') return undefined
    if (found === 'no block device') return fail(`${path} on node ${context.hostname} is no block device`)
    await checkPlace(context, path)
    return found
  }
  const existing = async (disk: DiskDict): Promise<Device> =>
    (await find(disk)) ?? fail(`There is no block device ${pathOf(disk)} on node ${context.hostname}`)
  const refuse = (what: string) => async (disk: DiskDict) =>
    fail(`Disks of template '${disk.dev_type}' ${what}: ${pathOf(disk)} is not the cluster's own`)

  return {
    hasDisks: true,
    /** The device becomes the instance's disk as it is, if it is large enough. */
    async create(disk, size_mib) {
      if (!pathOf(disk).startsWith(ADOPTABLE_BLOCKDEV_ROOT))
        fail(`Only devices below ${ADOPTABLE_BLOCKDEV_ROOT} can become disks, not ${pathOf(disk)}`)
      const { path } = await existing(disk)
      const size = await blockDeviceSize(context, path)
      if (size < size_mib * MIB)
        fail(
          `${path} on node ${context.hostname} has ${Math.floor(size / MIB)} MiB, and the disk is to have ${size_mib}`,
        )
      return [BLOCKDEV_DRIVER, path]
    },
    find,
    assemble: existing,
    open: () => Promise.resolve(),
    close: () => Promise.resolve(),
    grow: refuse('cannot be grown'),
    remove: () => Promise.resolve(),
    rename: refuse('cannot be renamed'),
    setInfo: () => Promise.resolve(),
    snapshot: refuse('have no snapshots'),
    dimensions: async (_disk, { path }) => ({ size_bytes: await blockDeviceSize(context, path), spindles: null }),
  }
}

function pathOf({ logical_id }: DiskDict): string {
  const [driver, path] = logical_id ?? []
  if (driver !== BLOCKDEV_DRIVER || typeof path !== 'string')
    return fail(`A block device's id is ['${BLOCKDEV_DRIVER}', path], not ${JSON.stringify(logical_id ?? null)}`)
  if (!path.startsWith('/dev/') || path.includes('\0') || path.split('/').includes('..'))
    return fail(`'${path}' is no path of a device below /dev`)
  return path
}

/** A name below /dev is often a link. It must lead to a device below /dev. */
async function checkPlace({ files, hostname }: StorageContext, path: string): Promise<void> {
  const real = await files.realpath(path).catch((error: unknown) => {
    if (isMissing(error)) return path
    throw error
  })
  if (!real.startsWith('/dev/')) fail(`${path} on node ${hostname} leads to ${real}, which is not below /dev`)
}
