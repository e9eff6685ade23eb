// Disk templates: which there are, what each can do, their parameters, and DRBD's numbers.
import type { DiskTemplate } from '../common'
import type { ParamSpecs } from '../param-types'

/** In the order in which Ganeti sorts them. */
export const DISK_TEMPLATES: readonly DiskTemplate[] = [
  'blockdev',
  'diskless',
  'drbd',
  'ext',
  'file',
  'plain',
  'rbd',
  'sharedfile',
  'gluster',
]
export const DEFAULT_ENABLED_DISK_TEMPLATES: readonly DiskTemplate[] = ['drbd', 'plain']
/** Why no move may copy disks to another node: their storage has to be there first. */
export const DISKS_NOT_REPLACED = 'Disks of template drbd cannot be replaced by this version yet'

export const DTS_COPYABLE: readonly DiskTemplate[] = ['file', 'plain']
export const DTS_EXCL_STORAGE: readonly DiskTemplate[] = ['plain']
export const DTS_EXT_MIRROR: readonly DiskTemplate[] = ['blockdev', 'diskless', 'ext', 'gluster', 'rbd', 'sharedfile']
export const DTS_FILEBASED: readonly DiskTemplate[] = ['file', 'gluster', 'sharedfile']
export const DTS_GROWABLE: readonly DiskTemplate[] = ['drbd', 'ext', 'file', 'gluster', 'plain', 'rbd', 'sharedfile']
export const DTS_HAVE_ACCESS: readonly DiskTemplate[] = ['ext', 'gluster', 'rbd']
export const DTS_INSTANCE_DEPENDENT_PATH: readonly DiskTemplate[] = ['file', 'sharedfile']
export const DTS_INT_MIRROR: readonly DiskTemplate[] = ['drbd']
export const DTS_LVM: readonly DiskTemplate[] = ['drbd', 'plain']
export const DTS_MIRRORED: readonly DiskTemplate[] = [
  'blockdev',
  'diskless',
  'drbd',
  'ext',
  'gluster',
  'rbd',
  'sharedfile',
]
export const DTS_NOT_CONVERTIBLE_FROM: readonly DiskTemplate[] = ['diskless']
export const DTS_NOT_CONVERTIBLE_TO: readonly DiskTemplate[] = ['blockdev', 'diskless']
export const DTS_NOT_LVM: readonly DiskTemplate[] = [
  'blockdev',
  'diskless',
  'ext',
  'file',
  'gluster',
  'rbd',
  'sharedfile',
]

export type StorageType =
  'blockdev' | 'diskless' | 'ext' | 'file' | 'gluster' | 'lvm-pv' | 'lvm-vg' | 'rados' | 'sharedfile'

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
export const STORAGE_TYPE_OF_TEMPLATE: Readonly<Record<DiskTemplate, StorageType>> = {
  blockdev: 'blockdev',
  diskless: 'diskless',
  drbd: 'lvm-vg',
  ext: 'ext',
  file: 'file',
  gluster: 'gluster',
  plain: 'lvm-vg',
  rbd: 'rados',
  sharedfile: 'sharedfile',
}

export const DISK_ACCESS_MODES = ['ro', 'rw'] as const
export const DISK_DRIVER_ACCESS = ['kernelspace', 'userspace'] as const
export const DEFAULT_FILE_DRIVER = 'loop'
export const MAX_DISKS = 16
export const MIN_VG_SIZE_MIB = 20480
export const DEFAULT_VG = 'xenvg'
export const MAX_WIPE_CHUNK_MIB = 1024
export const MIN_WIPE_CHUNK_PERCENT = 10

/** `ldisk_status` of a block device status. */
export const LOCAL_DISK_STATUS = { ok: 1, syncing: 2, unknown: 3, faulty: 4 } as const

export const DRBD_META_SIZE_MIB = 128
export const DRBD_SECRET_BYTES = 20
export const DRBD_DEFAULT_HELPER = '/bin/true'
export const LAST_DRBD_PORT = 14999

/** Disk parameters as kept at cluster and group. */
export const DISK_PARAMS: Readonly<Record<DiskTemplate, ParamSpecs>> = {
  diskless: {},
  file: {},
  sharedfile: {},
  plain: { stripes: { type: 'int', default: 1 } },
  blockdev: {},
  drbd: {
    'c-delay-target': { type: 'int', default: 1 },
    'c-fill-target': { type: 'int', default: 0 },
    'c-max-rate': { type: 'int', default: 61440 },
    'c-min-rate': { type: 'int', default: 4096 },
    'c-plan-ahead': { type: 'int', default: 20 },
    'data-stripes': { type: 'int', default: 1 },
    'disk-barriers': { type: 'string', default: 'n' },
    'disk-custom': { type: 'string', default: '' },
    'dynamic-resync': { type: 'bool', default: false },
    'meta-barriers': { type: 'bool', default: false },
    'meta-stripes': { type: 'int', default: 1 },
    metavg: { type: 'string', default: 'xenvg' },
    'net-custom': { type: 'string', default: '' },
    protocol: { type: 'string', default: 'C' },
    'resync-rate': { type: 'int', default: 61440 },
  },
  rbd: {
    access: { type: 'string', default: 'kernelspace' },
    pool: { type: 'string', default: 'rbd' },
    'user-id': { type: 'string', default: '' },
  },
  ext: { access: { type: 'string', default: 'kernelspace' } },
  gluster: {
    access: { type: 'string', default: 'kernelspace' },
    host: { type: 'string', default: '127.0.0.1' },
    port: { type: 'int', default: 24007 },
    volume: { type: 'string', default: 'gv0' },
  },
}
