// The drivers of disks on simulated nodes, in place of the product's: volumes and files, and mirrors of two volumes. All above is the product's.
import type { World } from '../../src/daemons/sim/world'
import { LOCAL_DISK_STATUS } from '../../src/model/constants/disks'
import { fail } from '../../src/node/failure'
import { endOf } from '../../src/node/storage/drbd/commands'
import { requireEnd } from '../../src/node/storage/drbd/devices'
import { diskIdOf } from '../../src/model/templates'
import type { Children, Device, Driver, DriverFactory, Mirror, StorageContext } from '../../src/node/storage/storage'
import type { DiskDict } from '../../src/rpc/node/dicts'
import type { End, SimMirrors } from './sim-mirrors'

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
      mirrors.makeVolume(hostname, placeOf(disk))
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
    snapshot: async (disk) => fail(`${placeOf(disk)} has no snapshots`),
    dimensions: async (disk) => ({ size_bytes: (sizeOf(disk)?.size ?? 0) * (1 << 20), spindles: null }),
  }
  return driver
}

const mirrored: DriverFactory = (context) => {
  const { hostname, mirrors } = context as StorageContext & SimStorage
  const at = (minor: number) => mirrors.ends.get(`${hostname} ${minor}`)
  const found = (disk: DiskDict): End | undefined => {
    const end = at(endOf(disk)?.minor ?? -1)
    return end?.disk === disk.uuid ? end : undefined
  }
  const need = (disk: DiskDict): End => found(disk) ?? fail(`disk ${disk.uuid} is not there on ${hostname}`)
  const device = ({ minor }: End): Device => ({ path: `/dev/drbd${minor}`, block: true, major: 147, minor })
  const contentOf = (children: Children) => {
    const [data, meta] = children
    if (data?.device === undefined || meta?.device === undefined) return undefined
    return mirrors.content(hostname, data.device.path)
  }
  const connect = (disk: DiskDict, end: End, dual: boolean) => {
    const { addresses } = requireEnd(disk, hostname)
    if (addresses !== undefined) attempt(() => mirrors.connect(end, addresses, dual))
  }
  const mirror: Mirror = {
    connection: async (disk) => {
      const { content, peer, addresses, copying, refused } = need(disk)
      const [mine, theirs] = [content?.notes.consistent === true, peer?.content?.notes.consistent === true]
      const wanted = requireEnd(disk, hostname).addresses
      return {
        state: `${copying ?? (peer === undefined ? 'apart' : 'connected')} ${refused}`,
        ...{ standalone: addresses === undefined, diskless: content === undefined, connected: peer !== undefined },
        ...{ syncing: copying !== undefined, ...(copying !== undefined && { sync_percent: 50 }) },
        upToDate: copying === undefined && mine && theirs,
        astray: addresses !== undefined && (addresses.local !== wanted?.local || addresses.remote !== wanted.remote),
      }
    },
    connect: async (disk, _device, dual) => connect(disk, need(disk), dual),
    disconnect: async (disk) => mirrors.disconnect(need(disk)),
    async attach(disk, _device, children) {
      const content = contentOf(children) ?? fail('its volumes are missing')
      renew(content)
      await attachTo(need(disk), content)
    },
    detach: async (disk) => attempt(() => mirrors.detach(need(disk))),
    pauseSync: nothing,
  }
  /** The other end hears of it. */
  const attachTo = async (end: End, content: NonNullable<End['content']>) => {
    if (end.content !== undefined) fail('it has its data already')
    const { addresses, dual } = end
    end.content = content
    if (addresses === undefined) return
    mirrors.disconnect(end)
    mirrors.connect(end, addresses, dual)
  }
  const driver: Driver = {
    ...{ hasDisks: true, onSecondary: 'assembled', worksWithoutChildren: true, mirror },
    async create(disk, _size, children) {
      const { minor } = requireEnd(disk, hostname)
      if (at(minor) !== undefined) fail(`minor ${minor} is in use`)
      renew(contentOf(children) ?? fail('its volumes are missing'))
      return disk.logical_id ?? []
    },
    find: async (disk) => {
      const end = found(disk)
      return end && device(end)
    },
    async health(disk) {
      const { content, peer, copying } = need(disk)
      const isWhole = content?.notes.consistent === true
      const { faulty, ok, syncing, unknown } = LOCAL_DISK_STATUS
      return {
        ...(copying !== undefined && { sync_percent: 50, estimated_time: 5 }),
        is_degraded: peer === undefined || copying !== undefined || !isWhole,
        ldisk_status: content === undefined ? faulty : isWhole ? ok : copying === undefined ? unknown : syncing,
      }
    },
    async assemble(disk, children) {
      const { minor, addresses } = requireEnd(disk, hostname)
      const other = at(minor)
      if (other !== undefined && other.disk !== disk.uuid) fail(`minor ${minor} belongs to disk ${other.disk}`)
      const content = contentOf(children)
      if (other === undefined && content === undefined && addresses === undefined) fail('its volumes are missing')
      const end = other ?? mirrors.begin(hostname, minor, disk.uuid)
      if (end.content === undefined && content !== undefined) await attachTo(end, content)
      const [is, should] = [end.addresses, addresses]
      if (is?.local === should?.local && is?.remote === should?.remote) return device(end)
      if (is !== undefined) mirrors.disconnect(end)
      connect(disk, end, false)
      return device(end)
    },
    shutdown: async (disk) => attempt(() => mirrors.down(need(disk))),
    open: async (disk, _device, { fresh = false }) => attempt(() => mirrors.promote(need(disk), fresh)),
    close: async (disk) => attempt(() => mirrors.demote(need(disk))),
    remove: async (disk) => attempt(() => mirrors.down(need(disk))),
    grow: nothing,
    rename: async () => fail('a mirror has no name of its own'),
    setInfo: nothing,
    snapshot: async () => fail('the data of a mirror is in its volume'),
    dimensions: async (disk) => ({ size_bytes: disk.size * (1 << 20), spindles: null }),
  }
  return driver
}

/** Nobody knows yet what it has on it. */
function renew(content: NonNullable<End['content']>): void {
  content.writes.clear()
  content.notes = { ...content.notes, current: '', base: '', history: [], consistent: false, crashed: false }
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
