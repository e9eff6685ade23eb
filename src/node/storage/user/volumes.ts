// Volumes in user space, for nodes without LVM: a volume group is a folder with a fixed size, a volume a sparse file in it. What the
// group has given away is what its files are long, so the folder itself is the record of it, and nothing has to be kept in step.
//
//   GROUP/size           how much may be given away, in MiB
//   GROUP/volumes/NAME   the data
//   GROUP/tags/NAME      what is noted at the volume, one tag a line
import * as path from 'node:path'
import { errorCode, isMissing } from '../../../lib/disk'
import type { Files } from '../../../lib/files'
import { fail } from '../../failure'
import type { LogicalVolume, PhysicalVolume, VolumeGroup } from '../lvm/units'

const MIB = 1 << 20
/** As LVM describes a volume that is linear, writable and active, and one that somebody has open. */
const ATTRIBUTES = { idle: '-wi-a-----', open: '-wi-ao----' } as const

export interface Place {
  readonly files: Files
  /** Where the groups are. */
  readonly userVolumes: string
  readonly hostname: string
}

/** Makes a group, or leaves the one that is there as it is. */
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

/** Never more is free than the file system has. */
async function groupOf(place: Place, name: string): Promise<VolumeGroup> {
  const { files } = place
  const folder = path.join(place.userVolumes, name)
  const size_mib = Number(await files.readFile(path.join(folder, 'size'), 'utf8'))
  const given_mib = (await userVolumes(place, [name])).reduce((sum, { size }) => sum + Number(size), 0)
  const { bavail, bsize } = await files.statfs(folder)
  return { name, size_mib, free_mib: Math.max(0, Math.min(size_mib - given_mib, Math.floor((bavail * bsize) / MIB))) }
}

/** Each group is on one physical volume: its folder. */
export async function userPhysicalVolumes(place: Place): Promise<PhysicalVolume[]> {
  const groups = await userGroups(place)
  return groups.map((group) => ({ ...group, vg: group.name, attributes: 'a--', allocatable: true }))
}

/** Those of these groups, or of all. `mirrored` are files that a mirrored disk is kept on now. */
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

/** Fails where the group has no room for so much more; `done` is what was added to it already. */
export async function requireRoom(place: Place, vg: string, size_mib: number): Promise<void> {
  const group = (await userGroups(place)).find(({ name }) => name === vg)
  if (group === undefined) return fail(`There is no volume group '${vg}' on node ${place.hostname}`)
  if (size_mib > group.free_mib)
    fail(
      `Volume group '${vg}' on node ${place.hostname} is too full for ${size_mib} MiB, it has ${Math.floor(group.free_mib)} MiB ` +
        'left: remove what is not needed, or choose another node',
    )
}

/** Whether two that were made in the same moment gave away more than there is. */
export async function isOvercommitted(place: Place, vg: string): Promise<boolean> {
  const size_mib = Number(await place.files.readFile(path.join(place.userVolumes, vg, 'size'), 'utf8'))
  const given_mib = (await userVolumes(place, [vg])).reduce((sum, { size }) => sum + Number(size), 0)
  return given_mib > size_mib
}

/** Numbers of files that somebody has locked: QEMU does so with each disk that it has open. */
async function lockedFiles(files: Files): Promise<ReadonlySet<number>> {
  const text = await files.readFile('/proc/locks', 'utf8').catch(() => '')
  return new Set([...text.matchAll(/ [0-9a-f]+:[0-9a-f]+:(\d+) /g)].map(([, number]) => Number(number)))
}

/** Undefined when it is missing. */
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
