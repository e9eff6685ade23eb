// Volumes in user space, for nodes without LVM. A volume group is a folder with a fixed size. A volume is a sparse file in it. The
// lengths of the files add up to the space that the group has given away, so no other record is needed.
//
//   GROUP/size           the size of the group in MiB
//   GROUP/closed         is there while nothing may be allocated
//   GROUP/volumes/NAME   the data of a volume
//   GROUP/tags/NAME      the volume's tags, one on each line
import * as path from 'node:path'
import { type Disk, errorCode, isMissing } from '../../../lib/disk'
import { accessible, type Files } from '../../../lib/files'
import { isLostVolume } from '../../../model/constants/disks'
import { fail } from '../../failure'
import { lostFrom } from '../lvm/problem'
import type { LogicalVolume, PhysicalVolume, VolumeGroup } from '../lvm/units'

const MIB = 1 << 20
/** LVM's attributes of a linear, writable, active volume, and of one that is also open. */
const ATTRIBUTES = { idle: '-wi-a-----', open: '-wi-ao----' } as const

export interface Place {
  readonly files: Files
  /** The directory that contains the groups. */
  readonly userVolumes: string
  readonly hostname: string
}

/** Makes a group. An existing group stays as it is. */
export async function makeGroup(files: Files, folder: string, name: string, size_mib: number): Promise<void> {
  const group = path.join(folder, name)
  for (const part of ['volumes', 'tags']) await files.mkdir(path.join(group, part), { recursive: true, mode: 0o700 })
  const write = files.writeFile(path.join(group, 'size'), `${size_mib}\n`, { flag: 'wx' })
  await write.catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
  })
}

export async function userGroups(place: Place): Promise<VolumeGroup[]> {
  const names = (await listed(place.files, place.userVolumes)).toSorted()
  return Promise.all(names.map((name) => groupOf(place, name)))
}

/** Reports at most as much free space as the file system has. */
async function groupOf(place: Place, name: string): Promise<VolumeGroup> {
  const { files } = place
  const folder = path.join(place.userVolumes, name)
  const size_mib = Number(await files.readFile(path.join(folder, 'size'), 'utf8'))
  const given_mib = (await userVolumes(place, [name])).reduce((sum, { size }) => sum + Number(size), 0)
  const { bavail, bsize } = await files.statfs(folder)
  return { name, size_mib, free_mib: Math.max(0, Math.min(size_mib - given_mib, Math.floor((bavail * bsize) / MIB))) }
}

/** Each group counts as being on one physical volume: its folder. Attributes are those of LVM. */
export async function userPhysicalVolumes(place: Place): Promise<PhysicalVolume[]> {
  const { files } = place
  const groups = await userGroups(place)
  return Promise.all(
    groups.map(async (group) => {
      const allocatable = !(await accessible(files, closedFile(place, group.name)))
      const isWhole = await accessible(files, volumesFolder(place, group.name))
      const attributes = `${allocatable ? 'a' : '-'}-${isWhole ? '-' : 'm'}`
      return { ...group, vg: group.name, attributes, allocatable }
    }),
  )
}

/** Changes whether volumes may be made on the group's physical volume. */
export async function modifyUserUnit(
  { disk, ...place }: Place & { readonly disk: Disk },
  type: string,
  name: string,
  changes: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { allocatable, ...others } = changes
  const fixed = type === 'lvm-pv' ? Object.keys(others) : Object.keys(changes)
  if (fixed.length > 0) fail(`Storage units of type '${type}' have nothing to modify in: ${fixed.join(', ')}`)
  if (allocatable === undefined) return
  await requireGroup(place, name)
  const file = closedFile(place, name)
  await (allocatable === true ? disk.remove(file, { durable: true }) : disk.write(file, '', { mode: 0o600 }))
}

/** Makes a group usable again that has lost the folder of its volumes. What was on them is gone, so their tags go, too. */
export async function repairUserUnit(place: Place, type: string, name: string, operation: string): Promise<void> {
  if (type !== 'lvm-vg' || operation !== 'fix-consistency')
    fail(`Storage units of type '${type}' do not know the operation '${operation}'`)
  await requireGroup(place, name)
  const { files } = place
  const tags = path.join(place.userVolumes, name, 'tags')
  for (const folder of [volumesFolder(place, name), tags]) await files.mkdir(folder, { recursive: true, mode: 0o700 })
  const there = await listed(files, volumesFolder(place, name))
  for (const volume of await listed(files, tags))
    if (!there.includes(volume)) await files.rm(tagsFile(place, name, volume), { force: true })
}

async function requireGroup(place: Place, name: string): Promise<void> {
  if ((await listed(place.files, place.userVolumes)).includes(name)) return
  fail(`There is no volume group '${name}' on node ${place.hostname}`)
}

const closedFile = ({ userVolumes: folder }: Place, vg: string): string => path.join(folder, vg, 'closed')
const volumesFolder = ({ userVolumes: folder }: Pick<Place, 'userVolumes'>, vg: string): string =>
  path.join(folder, vg, 'volumes')

/** The volumes of the given groups, or of all. `mirrored` are the files on which an active mirrored disk keeps its data. */
export async function userVolumes(
  place: Place,
  groups: readonly string[] = [],
  mirrored: ReadonlySet<string> = new Set(),
): Promise<LogicalVolume[]> {
  const locked = await lockedFiles(place.files)
  const all = await listed(place.files, place.userVolumes)
  const unknown = groups.find((name) => !all.includes(name))
  if (unknown !== undefined) fail(`There is no volume group '${unknown}' on node ${place.hostname}`)
  const found: LogicalVolume[] = []
  for (const vg of groups.length === 0 ? all : groups)
    for (const name of await listed(place.files, path.join(place.userVolumes, vg, 'volumes'))) {
      const file = volumeFile(place, vg, name)
      const info = await place.files.stat(file).catch(() => undefined)
      if (info === undefined) continue
      const attributes = ATTRIBUTES[locked.has(info.ino) || mirrored.has(file) ? 'open' : 'idle']
      found.push({ vg, name, size: (info.size / MIB).toFixed(2), attributes, devices: [`${vg}(0)`] })
    }
  return found
}

export const volumeFile = ({ userVolumes: folder }: Pick<Place, 'userVolumes'>, vg: string, name: string): string =>
  path.join(folder, vg, 'volumes', name)

export const tagsFile = ({ userVolumes: folder }: Pick<Place, 'userVolumes'>, vg: string, name: string): string =>
  path.join(folder, vg, 'tags', name)

/** Fails if the group does not have this much space. `done` is what this call has already added. */
export async function requireRoom(place: Place, vg: string, size_mib: number): Promise<void> {
  const group = (await userPhysicalVolumes(place)).find(({ name }) => name === vg)
  if (group === undefined) return fail(`There is no volume group '${vg}' on node ${place.hostname}`)
  if (isLostVolume(group.attributes))
    fail(`No volume can be made on node ${place.hostname}: ${lostFrom(vg, place.hostname)}`)
  if (!group.allocatable)
    fail(
      `No physical volume of group '${vg}' on node ${place.hostname} may be used: ` +
        `'gnt-node modify-storage --allocatable yes ${place.hostname} lvm-pv ${vg}' allows it`,
    )
  if (size_mib > group.free_mib)
    fail(
      `Volume group '${vg}' on node ${place.hostname} is too full for ${size_mib} MiB, it has ${Math.floor(group.free_mib)} MiB ` +
        'left: remove what is not needed, or choose another node',
    )
}

/** Whether the group has given away more than it has. That can happen if two volumes are made at the same moment. */
export async function isOvercommitted(place: Place, vg: string): Promise<boolean> {
  const size_mib = Number(await place.files.readFile(path.join(place.userVolumes, vg, 'size'), 'utf8'))
  const given_mib = (await userVolumes(place, [vg])).reduce((sum, { size }) => sum + Number(size), 0)
  return given_mib > size_mib
}

/** The inode numbers of locked files. QEMU locks each disk that it has open. */
async function lockedFiles(files: Files): Promise<ReadonlySet<number>> {
  const text = await files.readFile('/proc/locks', 'utf8').catch(() => '')
  return new Set([...text.matchAll(/ [0-9a-f]+:[0-9a-f]+:(\d+) /g)].map(([, number]) => Number(number)))
}

/** Returns undefined if the file is missing. */
export async function sizeOf(files: Files, file: string): Promise<number | undefined> {
  try {
    return (await files.stat(file)).size
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

async function listed(files: Files, folder: string): Promise<string[]> {
  try {
    return await files.readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}
