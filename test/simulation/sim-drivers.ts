// The drivers of disks on simulated nodes, in place of the product's: volumes and files, and mirrors of two volumes. All above is the product's.
import type { World } from '../../src/daemons/sim/world'
import { fail } from '../../src/node/failure'
import { requireEnd } from '../../src/node/storage/drbd/devices'
import { diskIdOf } from '../../src/model/templates'
import type { Children, Device, Driver, DriverFactory, Mirror, StorageContext } from '../../src/node/storage/storage'
import type { DiskDict } from '../../src/rpc/node/dicts'
import { userMirrorDriver } from '../../src/node/storage/user/mirror'
import type { SimMirrors } from './sim-mirrors'

export interface SimStorage {
  readonly world: World
  readonly mirrors: SimMirrors
}

const nothing = () => Promise.resolve()
const placeOf = ({ dev_type, logical_id = [] }: DiskDict): string =>
  diskIdOf(dev_type) === 'volume' ? `/dev/${logical_id.join('/')}` : String(logical_id.at(-1))
const alone = (disk: DiskDict): DiskDict => ({ ...disk, children: [] })

const volumes: DriverFactory = (context) => {
  const { hostname, world, mirrors } = context as StorageContext & SimStorage
  const sizeOf = (disk: DiskDict) => world.disk(hostname, alone(disk))
  const device = (disk: DiskDict): Device | undefined => sizeOf(disk) && { path: placeOf(disk), block: true }
  const driver: Driver = {
    hasDisks: true,
    place: placeOf,
    async create(disk, size_mib) {
      if (device(disk) !== undefined) fail(`${placeOf(disk)} exists`)
      world.addDisk(hostname, alone(disk), size_mib)
      mirrors.makeVolume(hostname, placeOf(disk), size_mib)
      return disk.logical_id ?? []
    },
    find: async (disk) => device(disk),
    assemble: async (disk) => device(disk) ?? fail(`${placeOf(disk)} is missing`),
    ...{ shutdown: nothing, open: nothing, close: nothing, setInfo: nothing },
    async grow(disk, _device, amount_mib, { dryRun }) {
      const found = sizeOf(disk)
      if (found !== undefined && !dryRun) found.size += amount_mib
    },
    async remove(disk) {
      attempt(() => mirrors.removeVolume(hostname, placeOf(disk)))
      world.removeDisk(hostname, alone(disk))
    },
    async rename(disk, _device, logical_id) {
      const now = { ...disk, logical_id }
      if (device(now) !== undefined) fail(`${placeOf(now)} exists`)
      world.renameDisk(hostname, disk, logical_id)
      mirrors.renameVolume(hostname, placeOf(disk), placeOf(now))
    },
    async snapshot(disk, _device, name) {
      const [group = '', volume = ''] = (disk.logical_id ?? []).map(String)
      if (diskIdOf(disk.dev_type) !== 'volume') return fail(`${placeOf(disk)} has no snapshots`)
      const copy = { ...alone(disk), logical_id: [group, name ?? `${volume}.snap`] }
      if (device(copy) !== undefined) fail(`${placeOf(copy)} exists`)
      const size_mib = sizeOf(disk)?.size ?? 0
      world.addDisk(hostname, copy, size_mib)
      mirrors.makeVolume(hostname, placeOf(copy), size_mib)
      return copy.logical_id
    },
    dimensions: async (disk) => ({ size_bytes: (sizeOf(disk)?.size ?? 0) * (1 << 20), spindles: null }),
  }
  return driver
}

/** Copying takes a while, so that something happens meanwhile. */
const RESYNC_KIB = 1500

/** The product's own mirrors in user space. The world hears of their minors. */
const mirrored: DriverFactory = (context) => {
  const { hostname, mirrors } = context as StorageContext & SimStorage
  const driver = userMirrorDriver(context)
  const slow = (disk: DiskDict): DiskDict => ({ ...disk, params: { ...disk.params, 'resync-rate': RESYNC_KIB } })
  const gone = async (disk: DiskDict, work: () => Promise<void>) => {
    await work()
    mirrors.noteMinor(hostname, disk.uuid, requireEnd(disk, hostname).minor, false)
  }
  const { mirror } = driver
  return Object.assign(Object.create(driver) as Driver, {
    ...(mirror && {
      mirror: { ...mirror, connect: (disk, device, dual) => mirror.connect(slow(disk), device, dual) } satisfies Mirror,
    }),
    assemble: async (disk: DiskDict, children: Children) => {
      const device = await driver.assemble(slow(disk), children)
      mirrors.noteMinor(hostname, disk.uuid, requireEnd(disk, hostname).minor, true)
      return device
    },
    shutdown: (disk: DiskDict, device: Device) => gone(disk, async () => driver.shutdown?.(disk, device)),
    remove: (disk: DiskDict, device: Device) => gone(disk, () => driver.remove(disk, device)),
  })
}

function attempt(action: () => void): void {
  try {
    action()
  } catch (error) {
    fail(error instanceof Error ? error.message : String(error))
  }
}

export const DRIVERS: Readonly<Record<string, DriverFactory>> = {
  ...{ plain: volumes, file: volumes, sharedfile: volumes, drbd: mirrored },
}
