// The disks of this node, as trees. A disk is made after its children and removed before them. What is done to a disk is also done to its
// children. Drivers do what differs between templates. One object of this class serves one node call: a list that a driver has fetched for
// one disk of the call serves the others too.
import { LOCAL_DISK_STATUS } from '../../model/constants/disks'
import type { BlockDeviceStatus, DiskDict } from '../../rpc/node/dicts'
import { messageOf } from '../../rpc/node/protocol'
import { NodeFailure, fail } from '../failure'
import { fuseExport, fuseUnexport } from './fuse-export'
import { keepingSize } from './keep-size'
import { nameOf } from './name'
import { overwrite } from './zeros'
import { DRIVERS } from './registry'
import type {
  Child,
  Children,
  Device,
  Dimensions,
  DiskId,
  Driver,
  Health,
  Lender,
  Making,
  Mirror,
  NewId,
  Sharing,
  StorageContext,
} from './storage'

const HEALTHY: Health = { is_degraded: false, ldisk_status: LOCAL_DISK_STATUS.ok }

export class Disks {
  private readonly known = new Map<string, Driver>()

  constructor(
    private readonly context: StorageContext,
    private readonly drivers = DRIVERS,
  ) {}

  /** Expects that the children exist, because the master makes each disk of a tree with a call of its own. */
  async create(disk: DiskDict, size_mib: number, making: Making = {}): Promise<DiskId> {
    return this.driver(disk).create(disk, size_mib, await this.assembleChildren(disk, 'all'), making)
  }

  /**
   * Makes a disk, writes a note that names its owner, and makes it usable if this node needs it. If a later step fails, the disk is deleted
   * again. Returns the disk's id, and its device if the disk is in use.
   */
  async createAndUse(
    disk: DiskDict,
    size_mib: number,
    { onPrimary, info, ...sharing }: Sharing & { readonly onPrimary: boolean; readonly info: string },
  ): Promise<{ id: DiskId; device?: Device }> {
    const id = await this.create(disk, size_mib, { ...sharing, info })
    try {
      const used = this.isUsed(disk, onPrimary)
      const device = used ? await this.assemble(disk) : undefined
      if (device !== undefined && this.isOpened(disk, onPrimary))
        await this.driver(disk).open(disk, device, { exclusive: true, fresh: true })
      if (info !== '' && this.driver(disk).isMadeWithInfo !== true) await this.setInfo(disk, info)
      return { id, ...(device && { device }) }
    } catch (error) {
      await this.unmake(disk)
      throw error
    }
  }

  /** Announces the disks that the call will use. Disks that cannot be listed fail later, when they are used. */
  expect(disks: readonly DiskDict[]): void {
    for (const disk of disks) {
      if (Object.hasOwn(this.drivers, disk.dev_type)) this.driver(disk).expect?.(disk)
      this.expect(childrenOf(disk))
    }
  }

  /** Why no snapshot of the disk can be made; null if nothing is known. */
  async snapshotProblem(disk: DiskDict): Promise<string | null> {
    const [data] = childrenOf(disk)
    if (data !== undefined) return this.snapshotProblem(data)
    const driver = this.driver(disk)
    return driver.snapshotProblem === undefined ? null : driver.snapshotProblem(await this.require(disk))
  }

  /** Returns undefined if the disk is missing. */
  async find(disk: DiskDict): Promise<Device | undefined> {
    return this.driver(disk).find(disk, await this.places(childrenOf(disk)))
  }

  async require(disk: DiskDict): Promise<Device> {
    return (await this.find(disk)) ?? fail(this.missing(disk))
  }

  /** For programs that read or write the disk on this node. Assembles it if necessary. */
  async opened(disk: DiskDict): Promise<Device> {
    const device = await this.usable(disk)
    await this.driver(disk).open(disk, device, { exclusive: true })
    return device
  }

  /**
   * Like `opened`, but makes a file or device that programs of this node can use. It stays until the disk is shut down or its guest begins.
   */
  async reached(disk: DiskDict): Promise<Device> {
    return this.within(await this.opened(disk))
  }

  /** For a guest that is about to begin. Refuses the disk if another client has it open. */
  async forGuest(disk: DiskDict): Promise<Device> {
    const device = await this.opened(disk)
    await this.letGo(device)
    const others = (await this.driver(disk).users?.(disk)) ?? []
    if (others.length > 0)
      fail(
        `${nameOf(disk)} is in use at ${others.join(', ')}, so no instance begins with it on node ${this.context.hostname}: ` +
          'stop the programs that use it there; the storage forgets a dead one within a minute',
      )
    return device
  }

  /** Gives a device that was found a path in this node's file system. */
  async within(device: Device): Promise<Device> {
    const { path, uri } = device
    return path !== '' || uri === undefined
      ? device
      : { ...device, path: await fuseExport(this.context, uri), block: false }
  }

  missing(disk: DiskDict): string {
    return `Can't find device ${nameOf(disk)} on node ${this.context.hostname}`
  }

  /** Returns undefined if the disk is missing. `combined` includes the state of its children. */
  async status(disk: DiskDict, { combined = false } = {}): Promise<BlockDeviceStatus | undefined> {
    const device = await this.find(disk)
    if (device === undefined) return undefined
    const own = (await this.driver(disk).health?.(disk, device)) ?? HEALTHY
    const others = combined ? await Promise.all(childrenOf(disk).map((child) => this.status(child, { combined }))) : []
    const { path, major, minor } = device
    return {
      dev_path: this.context.paths.virtual(path),
      ...(major !== undefined && minor !== undefined && { major, minor }),
      ...others.flatMap((one) => one ?? []).reduce<Health>(worse, own),
    }
  }

  async assemble(disk: DiskDict, { shared = false } = {}): Promise<Device> {
    const { worksWithoutChildren } = this.driver(disk)
    const children = await this.assembleChildren(disk, worksWithoutChildren ? 'those there' : 'all')
    return this.driver(disk).assemble(disk, children, { shared })
  }

  /** Assembles the disk as its instance's primary node or another node needs it. Returns undefined if the node does not need it. */
  async assembleFor(disk: DiskDict, onPrimary: boolean): Promise<Device | undefined> {
    if (!this.isUsed(disk, onPrimary)) return undefined
    const device = await this.assemble(disk)
    if (this.isOpened(disk, onPrimary)) await this.driver(disk).open(disk, device, { exclusive: true })
    return device
  }

  /** Returns the paths of the devices that are not in use any more, with those of its children. */
  async shutdown(disk: DiskDict): Promise<string[]> {
    const gone = await this.shutdownOwn(disk)
    for (const child of childrenOf(disk)) gone.push(...(await this.shutdown(child)))
    return gone
  }

  private async shutdownOwn(disk: DiskDict): Promise<string[]> {
    const driver = this.driver(disk)
    // Looking for a device may take a program. It is not needed where the path is known and nothing is to be done.
    if (driver.shutdown === undefined && driver.place !== undefined) return [driver.place(disk)]
    const device = await this.find(disk)
    if (device === undefined) return []
    await this.letGo(device)
    await driver.shutdown?.(disk, device)
    return [device.path]
  }

  async open(disk: DiskDict, exclusive: boolean): Promise<Device> {
    const device = await this.usable(disk, { shared: !exclusive })
    await this.driver(disk).open(disk, device, { exclusive })
    return device
  }

  async close(disk: DiskDict): Promise<void> {
    const device = await this.require(disk)
    await this.letGo(device)
    await this.driver(disk).close(disk, device)
  }

  /** Grows the children on all nodes first, then the disk itself, if it has a part of its own. A dry run checks only the children. */
  async grow(
    disk: DiskDict,
    amount_mib: number,
    { dryRun = false, backing = true, ...sharing }: Sharing & { readonly dryRun?: boolean; readonly backing?: boolean },
  ): Promise<void> {
    const [data] = childrenOf(disk)
    if (data !== undefined && (backing || dryRun))
      return this.grow(data, amount_mib, { ...sharing, dryRun, backing: true })
    const device = await this.require(disk)
    if (data !== undefined || backing || dryRun)
      await this.driver(disk).grow(disk, device, amount_mib, { ...sharing, dryRun })
  }

  /** Overwrites a range with zeros. Fails if the range ends beyond the disk. */
  async wipe(disk: DiskDict, offset_mib: number, size_mib: number): Promise<void> {
    const device = await this.usable(disk)
    const { size_bytes: end_bytes } = await this.driver(disk).dimensions(disk, device)
    await this.using(disk, device, (file) => overwrite(this.context.files, file, { offset_mib, size_mib, end_bytes }))
  }

  /** Runs `work` with a file or block device that stands for the whole disk, which is open on this node. It does not become larger. */
  async lent<T>(disk: DiskDict, work: (file: string) => Promise<T>): Promise<T> {
    const keeping = (file: string) => keepingSize(this.context.files, file, nameOf(disk), () => work(file))
    return this.using(disk, await this.usable(disk), keeping)
  }

  /** Undefined for drivers whose `reached` gives a file or device that stays. */
  lender = async (disk: DiskDict): Promise<Lender | undefined> => this.driver(disk).lender?.(disk)

  private async using<T>(disk: DiskDict, device: Device, work: (file: string) => Promise<T>): Promise<T> {
    const driver = this.driver(disk)
    return driver.lend === undefined ? work((await this.within(device)).path) : driver.lend(disk, device, work)
  }

  /** A disk that is already gone is not an error. Returns the devices that are gone, with those of its children. */
  async remove(disk: DiskDict): Promise<Device[]> {
    const device = await this.removeOwn(disk)
    const gone = device === undefined ? [] : [device]
    const failures: string[] = []
    for (const child of childrenOf(disk)) {
      try {
        gone.push(...(await this.remove(child)))
      } catch (error) {
        if (!(error instanceof NodeFailure)) throw error
        failures.push(error.message)
      }
    }
    if (failures.length > 0) fail(failures.join('; '))
    return gone
  }

  /** Renames all disks or none: if one cannot be renamed, the others get their old names back. Returns the devices that have moved. */
  async rename(renames: readonly (readonly [disk: DiskDict, newId: NewId])[]): Promise<Device[]> {
    const moved: { device: Device; back: () => Promise<void> }[] = []
    try {
      for (const [disk, newId] of renames) {
        const device = await this.require(disk)
        await this.letGo(device)
        await this.driver(disk).rename(disk, device, newId)
        const now = { ...disk, logical_id: newId }
        const oldId = (disk.logical_id ?? []).flatMap((part) => part ?? [])
        moved.push({ device, back: async () => this.driver(now).rename(now, await this.require(now), oldId) })
      }
    } catch (error) {
      for (const { back } of moved.toReversed())
        await back().catch((reason: unknown) =>
          this.context.log.error(
            { error: messageOf(reason) },
            'a disk keeps its new name, because it could not get its old one back',
          ),
        )
      throw error
    }
    return moved.map(({ device }) => device)
  }

  async setInfo(disk: DiskDict, info: string): Promise<void> {
    await this.driver(disk).setInfo(disk, await this.require(disk), info)
    for (const child of childrenOf(disk)) await this.setInfo(child, info)
  }

  async snapshot(disk: DiskDict, name: string | null, size_mib: number | null): ReturnType<Driver['snapshot']> {
    const [data] = childrenOf(disk)
    if (data !== undefined) return this.snapshot(data, name, size_mib)
    return this.driver(disk).snapshot(disk, await this.require(disk), name, size_mib)
  }

  /** Returns undefined if the disk is missing. */
  async dimensions(disk: DiskDict): Promise<Dimensions | undefined> {
    const device = await this.find(disk)
    return device && this.driver(disk).dimensions(disk, device)
  }

  /** The operations of a disk that two nodes keep. Refuses other disks. */
  mirror({ dev_type, ...disk }: DiskDict): Mirror {
    return (
      this.driver({ dev_type, ...disk }).mirror ?? fail(`A disk of template '${dev_type}' has no copy on another node`)
    )
  }

  isMirror = (disk: DiskDict): boolean => this.driver(disk).mirror !== undefined

  /** The devices' paths. A program looks for a disk only if its path is not known in advance. */
  places(disks: readonly DiskDict[]): Promise<Children> {
    return Promise.all(
      disks.map(async (disk): Promise<Child> => {
        const place = this.driver(disk).place?.(disk)
        return place === undefined ? this.child(disk) : { place }
      }),
    )
  }

  findAll(disks: readonly DiskDict[]): Promise<Children> {
    return Promise.all(disks.map((disk) => this.child(disk)))
  }

  private async child(disk: DiskDict): Promise<Child> {
    const device = await this.find(disk)
    const place = this.driver(disk).place?.(disk) ?? device?.path
    return { ...(place !== undefined && { place }), ...(device && { device }) }
  }

  private async assembleChildren(disk: DiskDict, needed: 'all' | 'those there'): Promise<Children> {
    const children: Child[] = []
    for (const child of childrenOf(disk)) {
      try {
        const device = await this.assemble(child)
        await this.driver(child).open(child, device, { exclusive: true })
        children.push({ place: device.path, device })
      } catch (error) {
        if (needed === 'all' || !(error instanceof NodeFailure)) throw error
        this.context.log.error({ disk: nameOf(disk), error: error.message }, 'a disk works without one of its children')
        const place = this.driver(child).place?.(child)
        children.push({ ...(place !== undefined && { place }) })
      }
    }
    return children
  }

  private async usable(disk: DiskDict, how: { readonly shared?: boolean } = {}): Promise<Device> {
    const device = await this.require(disk)
    return device.idle === true ? this.assemble(disk, how) : device
  }

  private isUsed = (disk: DiskDict, onPrimary: boolean): boolean =>
    onPrimary || this.driver(disk).onSecondary !== undefined

  private isOpened = (disk: DiskDict, onPrimary: boolean): boolean =>
    onPrimary || this.driver(disk).onSecondary === 'opened'

  private async letGo({ path, uri }: Device): Promise<void> {
    if (path === '' && uri !== undefined) await fuseUnexport(this.context, uri)
  }

  /** Removes the disk without its children. If its device cannot be found, the driver may still remove remains. */
  private async removeOwn(disk: DiskDict): Promise<Device | undefined> {
    const driver = this.driver(disk)
    let device: Device | undefined
    try {
      device = await this.find(disk)
    } catch (error) {
      if (!(error instanceof NodeFailure) || driver.removeUnseen === undefined) throw error
      await driver.removeUnseen(disk, error)
      return undefined
    }
    if (device === undefined) {
      await driver.removeUnseen?.(disk)
      return undefined
    }
    await this.letGo(device)
    await driver.remove(disk, device)
    return device
  }

  private async unmake(disk: DiskDict): Promise<void> {
    try {
      await this.removeOwn(disk)
    } catch (error) {
      this.context.log.error({ disk: nameOf(disk), error: messageOf(error) }, 'a half-made disk could not be deleted')
    }
  }

  private driver({ dev_type }: DiskDict): Driver {
    const known = this.known.get(dev_type)
    if (known !== undefined) return known
    const factory = Object.hasOwn(this.drivers, dev_type) ? this.drivers[dev_type] : undefined
    const made = factory?.(this.context) ?? fail(`This node has no support for disks of template '${dev_type}'`)
    this.known.set(dev_type, made)
    return made
  }
}

function worse(one: Health, other: Health): Health {
  const percent = least(one.sync_percent, other.sync_percent, Math.min)
  const time = least(one.estimated_time, other.estimated_time, Math.max)
  return {
    ...(percent !== undefined && { sync_percent: percent }),
    ...(time !== undefined && { estimated_time: time }),
    is_degraded: one.is_degraded || other.is_degraded,
    ldisk_status: Math.max(one.ldisk_status, other.ldisk_status),
  }
}

const least = (a: number | undefined, b: number | undefined, choose: (a: number, b: number) => number) =>
  a === undefined ? b : b === undefined ? a : choose(a, b)

const childrenOf = ({ children }: DiskDict): readonly DiskDict[] => children ?? []
