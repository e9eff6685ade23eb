// Snapshots of disks on users' request. gantry.data lists them by the uuid of their disk, because Ganeti's
// configuration has no place for them, and not every storage can list them.
import { listOf, orNull } from '../lib/shapes/containers'
import { any, bool, float, int, nonEmpty } from '../lib/shapes/leaves'
import { objectOf, optional } from '../lib/shapes/objects'
import { Mismatch } from '../lib/shapes/shape'
import { LOCAL_DISK_STATUS } from './constants/disks'
import type { Disk } from './disk'
import { SNAPSHOT_NAME_CHARS_MAX } from './limits/storage'
import { type DiskTemplate, diskIdOf, isDiskTemplate, isFileBased, isOnLvm } from './templates'

export const SNAPSHOTS_SECTION = 'snapshots'

export interface DiskSnapshot {
  readonly name: string
  /** The template of the disk that actually has the snapshot: for a mirror, its data volume. */
  readonly dev_type: DiskTemplate
  readonly logical_id: readonly (string | number)[]
  /** Size of the disk at that time, in MiB. */
  readonly size: number
  /** The uuid of the only node that has it; null if every node reaches it. */
  readonly node: string | null
  /** Seconds since 1970. */
  readonly ctime: number
  /** The disk is getting its data again, and has only a part of it. */
  readonly restoring?: boolean | undefined
}

/**
 * Invalid: it has run full, so its data is lost. Restoring: its disk has only a part of its data again. Unknown: its storage is not asked, or
 * its node does not answer.
 */
export type SnapshotStatus = 'ok' | 'invalid' | 'missing' | 'restoring' | 'unknown'

/** A snapshot as it is shown. */
export interface ShownSnapshot extends Pick<DiskSnapshot, 'name' | 'logical_id' | 'size' | 'ctime'> {
  readonly disk: number
  /** The name of the node. */
  readonly node: string | null
  readonly status: SnapshotStatus
}

/** The snapshot as a disk. */
export const snapshotDisk = (disk: Disk, { dev_type, logical_id, size }: DiskSnapshot): Disk => ({
  ...disk,
  ...{ dev_type, logical_id, size, children: [], mode: 'ro' },
})

/** Whether a node can look at it without attaching it. Only such snapshots are rolled back by nodes. */
export const isSeenByNodes = ({ dev_type }: Pick<DiskSnapshot, 'dev_type'>): boolean =>
  isFileBased(dev_type) || isOnLvm(dev_type)

/** `found` is what the node finds: null if it is missing there, undefined if nobody knows. */
export function snapshotStatus(
  { restoring }: Pick<DiskSnapshot, 'restoring'>,
  found: { readonly ldisk_status: number } | null | undefined,
): SnapshotStatus {
  if (found === null) return 'missing'
  if (found?.ldisk_status === LOCAL_DISK_STATUS.faulty) return 'invalid'
  if (restoring === true) return 'restoring'
  return found === undefined ? 'unknown' : 'ok'
}

/** The name of snapshots that exports make and delete. */
const OF_EXPORTS = 'snap'
const NAME = new RegExp(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,${SNAPSHOT_NAME_CHARS_MAX - 1}}$`)

/** Why a snapshot cannot have this name. All other names work on storage of every kind. */
export function badSnapshotName(name: string): string | undefined {
  if (name === OF_EXPORTS) return `A snapshot cannot be called '${name}', as exports call theirs`
  if (NAME.test(name)) return undefined
  return (
    `'${name.slice(0, 100)}' is no name of a snapshot: it has up to ${SNAPSHOT_NAME_CHARS_MAX} letters, digits, '_', '.' and '-', ` +
    'and begins with none of the last two'
  )
}

/** By the uuids of disks. */
type Section = Readonly<Record<string, unknown>>

const noted = listOf(
  objectOf(
    {
      ...{ name: nonEmpty, dev_type: nonEmpty, logical_id: listOf(any) },
      ...{ size: int, node: orNull(nonEmpty), ctime: float, restoring: optional(bool) },
    },
    { others: 'dropped' },
  ),
)

/** The snapshots of a disk. Skips unreadable entries. */
export function snapshotsOf(section: Section, disk: string): readonly DiskSnapshot[] {
  const found = section[disk]
  if (found === undefined) return []
  try {
    return noted.parse(found).flatMap(({ dev_type, logical_id, ...rest }) => {
      const id = logical_id.flatMap((part) => (typeof part === 'string' || typeof part === 'number' ? [part] : []))
      return isDiskTemplate(dev_type) ? [{ ...rest, dev_type, logical_id: id }] : []
    })
  } catch (error) {
    if (error instanceof Mismatch) return []
    throw error
  }
}

/** Every snapshot of every disk. */
export const allSnapshots = (section: Section): DiskSnapshot[] =>
  Object.keys(section).flatMap((disk) => snapshotsOf(section, disk))

/** The disk whose storage makes the snapshot, and the id that the snapshot has there. */
export function snapshotPlace(disk: Disk, name: string): Pick<DiskSnapshot, 'dev_type' | 'logical_id'> | undefined {
  const [data] = disk.children
  if (data !== undefined) return snapshotPlace(data, name)
  const [first = '', last = ''] = disk.logical_id
  const { dev_type } = disk
  const kind = diskIdOf(dev_type)
  if (kind === 'volume' || kind === 'file') return { dev_type, logical_id: [first, `${last}.${name}`] }
  if (kind === 'image') return { dev_type, logical_id: [first, `${last}@${name}`] }
  return kind === 'provider' ? { dev_type, logical_id: [first, name] } : undefined
}

/**
 * The snapshot's name in the node call. It includes the disk, because volumes and files of all instances share one
 * place.
 */
export function wireName(disk: Disk, name: string): string {
  const [data] = disk.children
  if (data !== undefined) return wireName(data, name)
  return diskIdOf(disk.dev_type) === 'volume' ? `${String(disk.logical_id[1])}.${name}` : name
}
