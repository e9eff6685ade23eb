// Disks as volumes in user space, for a node without LVM: those of template plain, and the children of mirrored disks. A logical id is
// `[group, volume]` as with LVM, so the code above this driver need not know the difference.
import * as path from 'node:path'
import { KEEP_UNTIL_UNKNOWN } from '../../../model/leftovers'
import { constants } from '../../../lib/files'
import type { DiskDict } from '../../../rpc/node/dicts'
import { fail } from '../../failure'
import { canShareIn, cannotShare, createFile, resize } from '../file'
import { asTag, checkName, OWNER, volumeOf } from '../lvm/names'
import type { Children, Device, Dimensions, DiskId, Driver, DriverFactory, NewId, StorageContext } from '../storage'
import { type Place, isOvercommitted, requireRoom, sizeOf, tagsFile, volumeFile } from './volumes'

const MIB = 1 << 20

class UserVolumeDriver implements Driver {
  readonly hasDisks = true
  readonly onSecondary = 'opened'

  constructor(
    private readonly context: StorageContext,
    private readonly at: Place,
  ) {}

  place = (disk: DiskDict): string => {
    const { vg, name } = volumeOf(disk.logical_id)
    return volumeFile(this.at, vg, name)
  }

  async find(disk: DiskDict): Promise<Device | undefined> {
    const file = this.place(disk)
    return (await sizeOf(this.context.files, file)) === undefined ? undefined : { path: file, block: false }
  }

  async create(disk: DiskDict, size_mib: number): Promise<DiskId> {
    const { vg, name } = volumeOf(disk.logical_id)
    await this.refuseExisting(vg, name, KEEP_UNTIL_UNKNOWN)
    await requireRoom(this.at, vg, size_mib)
    const file = this.place(disk)
    await createFile(file, size_mib * MIB, this.context)
    if (!(await isOvercommitted(this.at, vg))) return [vg, name]
    await this.context.files.rm(file, { force: true })
    return fail(`Volume group '${vg}' on node ${this.context.hostname} was filled by others meanwhile`)
  }

  async assemble(disk: DiskDict, _children: Children): Promise<Device> {
    return (await this.find(disk)) ?? fail(`The ${title(disk)} does not exist on node ${this.context.hostname}`)
  }

  /** Volumes are always usable. */
  open = (): Promise<void> => Promise.resolve()
  close = (): Promise<void> => Promise.resolve()

  async grow(
    disk: DiskDict,
    device: Device,
    amount_mib: number,
    { dryRun }: { readonly dryRun: boolean },
  ): Promise<void> {
    if (amount_mib < 0) fail(`Cannot shrink ${title(disk)} (by ${-amount_mib} MiB)`)
    const { vg } = volumeOf(disk.logical_id)
    await requireRoom(this.at, vg, amount_mib)
    const before = (await this.context.files.stat(device.path)).size
    if (!dryRun) await resize(this.context.files, device.path, before + amount_mib * MIB)
  }

  async remove(disk: DiskDict, device: Device): Promise<void> {
    const { vg, name } = volumeOf(disk.logical_id)
    await this.context.files.rm(tagsFile(this.at, vg, name), { force: true })
    await this.context.files.rm(device.path, { force: true })
  }

  async rename(disk: DiskDict, device: Device, newId: NewId): Promise<void> {
    const { files } = this.context
    const [from, to] = [volumeOf(disk.logical_id), volumeOf(newId)]
    if (from.vg !== to.vg) fail(`The ${title(disk)} cannot move to another group, '${to.vg}'`)
    await this.refuseExisting(to.vg, to.name, `${title(disk)} cannot get this name`)
    await files.rename(device.path, volumeFile(this.at, to.vg, to.name))
    const tags = tagsFile(this.at, from.vg, from.name)
    if ((await sizeOf(files, tags)) !== undefined) await files.rename(tags, tagsFile(this.at, to.vg, to.name))
  }

  async setInfo(disk: DiskDict, _device: Device, info: string): Promise<void> {
    const { files } = this.context
    const { vg, name } = volumeOf(disk.logical_id)
    const file = tagsFile(this.at, vg, name)
    const old = (await sizeOf(files, file)) === undefined ? '' : await files.readFile(file, 'utf8')
    const others = old.split('\n').filter((tag) => tag !== '' && !tag.startsWith(OWNER) && tag !== asTag(info))
    await files.writeFile(file, [...others, asTag(info)].map((tag) => `${tag}\n`).join(''), { mode: 0o600 })
  }

  /** Needs a file system that can share blocks: a copy that takes time would mix the states of many moments. */
  async snapshot(disk: DiskDict, device: Device, wished: string | null, _size: number | null): Promise<NewId> {
    const { files, hostname } = this.context
    const { vg, name: origin } = volumeOf(disk.logical_id)
    const name = checkName(wished ?? `${origin}.snap`)
    const file = volumeFile(this.at, vg, name)
    // A snapshot left by an interrupted export is replaced. A snapshot that a user named is kept.
    if (wished === null) await files.rm(file, { force: true })
    await this.refuseExisting(vg, name, 'give the snapshot another name')
    await requireRoom(this.at, vg, disk.size)
    try {
      await files.copyFile(device.path, file, constants.COPYFILE_FICLONE_FORCE)
    } catch (error) {
      await files.rm(file, { force: true })
      if (!cannotShare(error)) throw error
      fail(cannotShareText(title(disk), hostname))
    }
    return [vg, name]
  }

  async snapshotProblem(device: Device): Promise<string | null> {
    const { files, hostname } = this.context
    if (await canShareIn(files, path.dirname(device.path))) return null
    return cannotShareText('its volume', hostname)
  }

  dimensions = async (_disk: DiskDict, device: Device): Promise<Dimensions> => ({
    size_bytes: (await this.context.files.stat(device.path)).size,
    spindles: null,
  })

  private async refuseExisting(vg: string, name: string, way: string): Promise<void> {
    if ((await sizeOf(this.context.files, volumeFile(this.at, vg, name))) === undefined) return
    fail(`Volume '${vg}/${name}' exists already on node ${this.context.hostname}: ${way}`)
  }
}

/** `folder` contains the volume groups. */
export const userVolumeDriver =
  (folder: string): DriverFactory =>
  (context) =>
    new UserVolumeDriver(context, { ...context, userVolumes: folder })

const cannotShareText = (volume: string, hostname: string): string =>
  `The file system of ${volume} on node ${hostname} cannot share blocks of files, so there are no snapshots of volumes in user space: ` +
  'keep the cluster on Btrfs or XFS, or export the instance while it is stopped, which copies its disks'

const title = (disk: DiskDict): string => {
  const { vg, name } = volumeOf(disk.logical_id)
  return `volume '${vg}/${name}'`
}
