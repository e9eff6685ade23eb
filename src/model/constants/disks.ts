// Numbers and words of disks and storage. `model/templates.ts` describes disk templates.
import type { DiskTemplate, StorageType } from '../templates'

export const DEFAULT_ENABLED_DISK_TEMPLATES: readonly DiskTemplate[] = ['drbd', 'plain']

export const STORAGE_TYPES: readonly StorageType[] = [
  'blockdev',
  'diskless',
  'ext',
  'file',
  'gluster',
  'lvm-pv',
  'lvm-vg',
  'rados',
  'sharedfile',
]
/** Storage types whose space nodes can report. */
export const STORAGE_TYPES_REPORTED: readonly StorageType[] = ['file', 'lvm-pv', 'lvm-vg']
export const STORAGE_TYPES_NODE_STORAGE: readonly StorageType[] = ['file', 'gluster', 'lvm-pv', 'lvm-vg', 'sharedfile']
export const DISK_ACCESS_MODES = ['ro', 'rw'] as const
export const DISK_DRIVER_ACCESS = ['kernelspace', 'userspace'] as const
export const DEFAULT_FILE_DRIVER = 'loop'
/** The first part of the id of a block device that exists before its instance, and the directory of such devices. */
export const BLOCKDEV_DRIVER = 'manual'
export const ADOPTABLE_BLOCKDEV_ROOT = '/dev/disk/'
export const MAX_DISKS = 16
/** The name of a temporary disk, from which an instance boots a helper machine. */
export const HELPER_DISK_NAME = 'helper-machine'
export const MIN_VG_SIZE_MIB = 20480
export const DEFAULT_VG = 'xenvg'
/** LVM says so to an ordinary user. Then his node has no volume groups, and that is no failure. */
export const LVM_ONLY_ROOT = /Running as a non-root user/
export const MAX_WIPE_CHUNK_MIB = 1024
export const MIN_WIPE_CHUNK_PERCENT = 10

/** `ldisk_status` of a block device status. */
export const LOCAL_DISK_STATUS = { ok: 1, syncing: 2, unknown: 3, faulty: 4 } as const

export const DRBD_SECRET_BYTES = 20
/** Ours: what a node with mirrored disks in user space tells in place of DRBD's version. */
export const USER_SPACE_VERSION = 'user space (no DRBD)'
export const DRBD_DEFAULT_HELPER = '/bin/true'
export const LAST_DRBD_PORT = 14999

/** What to do on a node that lacks a volume group and has these. */
export const insteadOfGroup = (groups: readonly string[]): string =>
  groups.length === 0
    ? 'it has none at all; vgcreate, of the package lvm2, makes one'
    : `it has ${groups.join(', ')}; vgcreate makes another one`

/** In LVM's attributes of a physical volume, such as `a-m`, an `m` there means that it is missing. */
export const isLostVolume = (attributes: string): boolean => attributes[2] === 'm'

export const wayOfLostVolume = (group: string, node: string): string =>
  `put its disk back, or take it out of the group with 'gnt-node repair-storage ${node} lvm-vg ${group}'`

/** The NBD export name of a disk that a process of the node serves. */
export const SERVED_EXPORT = 'disk'
