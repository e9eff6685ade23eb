// Disk templates, and the facts about their disks that concern no program or file of a node. `node/storage/` has a
// node's driver of each template. Ganeti keeps the same facts in its lists `DTS_*` (spec: constants).
import type { VerifyCodeName } from './constants/verify-codes'
import type { Params } from './common'
import type { ParamSpecs } from './param-types'

export type StorageType =
  'blockdev' | 'diskless' | 'ext' | 'file' | 'gluster' | 'lvm-pv' | 'lvm-vg' | 'rados' | 'sharedfile'

/**
 * The kind of a disk's `logical_id`: `[volume group, volume]`, `[driver, path]`, `[driver, device]`, `[pool, image]`, `[provider, name]`, or
 * DRBD's nodes, port, minors and secret.
 */
export type DiskId = 'volume' | 'file' | 'device' | 'image' | 'provider' | 'minors'

export interface TemplateFacts {
  /** The storage that counts its space. */
  readonly storage: StorageType
  /** Missing for instances without disks. */
  readonly id?: DiskId
  /**
   * Why an instance can run elsewhere when its node is lost. `inside`: two nodes keep copies of the disk. `outside`:
   * every node of the group reaches it. If missing, the disk is only on the primary node.
   */
  readonly mirror?: 'inside' | 'outside'
  /** Instances have no disks. */
  readonly empty?: true
  /** A disk is a file below this directory of the cluster. */
  readonly directory?: 'file_storage_dir' | 'shared_file_storage_dir' | 'gluster_storage_dir'
  /** The question that verify asks nodes about this directory, and the code that it reports when the directory cannot be used. */
  readonly check?: readonly [question: string, code: VerifyCodeName]
  /** The file's path has the name of its instance in it. */
  readonly namedAfterInstance?: true
  readonly growable?: true
  /**
   * How snapshots of its disks are made. `beside`: next to the disk with their own size, and the disk cannot grow
   * meanwhile. `within`: inside the storage, which shares blocks.
   */
  readonly snapshots?: 'beside' | 'within'
  /** `gnt-instance move` copies it to another node. */
  readonly copyable?: true
  /** Allowed on nodes whose volume groups are given to instances as whole disks (`exclusive_storage`). */
  readonly exclusive?: true
  /** Unknown parameters of a disk belong to its provider. */
  readonly ownParams?: true
  /** Has the parameter `access`: the kernel's device, or QEMU's own way. */
  readonly access?: true
  /** A node without these programs cannot have such disks. */
  readonly programs?: readonly string[]
  /** The module with which QEMU reaches them by itself. */
  readonly qemuModule?: string
  /** A node maps a device for it only while it needs one, and unmaps it when the instance has moved away. */
  readonly mapped?: true
  /** QEMU's own cache in user space notices writes from other nodes, so it need not be switched off. */
  readonly cachedTogether?: true
  /** Disks cannot be converted to this template (`to`), nor from it (`either`). */
  readonly notConvertible?: 'to' | 'either'
  /**
   * The block device exists before the instance and stays after it. Its space counts for nobody, and it cannot be
   * recreated elsewhere.
   */
  readonly adoptedOnly?: true
  /** MiB that each disk needs besides its size. */
  readonly meta?: number
  /** This version can make such disks. */
  readonly made?: true
  /** Parameters that cluster and groups have for it. */
  readonly params: ParamSpecs
  /** Those that say where its disks are. */
  readonly places?: readonly string[]
  /** Those that each disk may have for itself. */
  readonly perDisk?: readonly string[]
}

/** Directories for disk files, as the cluster's settings. */
export type StorageDirectories = Readonly<Record<NonNullable<TemplateFacts['directory']>, string>>

export const DRBD_META_SIZE_MIB = 128

const access = { type: 'string', default: 'kernelspace' } as const
/** Ours. 0 is LVM's own size. */
const STRIPE_SIZE = { type: 'kib', default: 0, ours: true } as const

/** In the order of Ganeti's own type, which allocators use. */
export const TEMPLATES = {
  diskless: { storage: 'diskless', mirror: 'outside', empty: true, notConvertible: 'either', made: true, params: {} },
  file: {
    storage: 'file',
    id: 'file',
    directory: 'file_storage_dir',
    check: ['file-storage-path', 'ENODEFILESTORAGEPATHUNUSABLE'],
    namedAfterInstance: true,
    growable: true,
    snapshots: 'within',
    copyable: true,
    made: true,
    params: {},
  },
  sharedfile: {
    storage: 'sharedfile',
    id: 'file',
    mirror: 'outside',
    directory: 'shared_file_storage_dir',
    check: ['shared-file-storage-path', 'ENODESHAREDFILESTORAGEPATHUNUSABLE'],
    namedAfterInstance: true,
    growable: true,
    snapshots: 'within',
    made: true,
    params: {},
  },
  plain: {
    storage: 'lvm-vg',
    id: 'volume',
    growable: true,
    snapshots: 'beside',
    copyable: true,
    exclusive: true,
    made: true,
    params: { stripes: { type: 'int', default: 1 }, 'stripe-size': STRIPE_SIZE },
    perDisk: ['stripes', 'stripe-size'],
  },
  blockdev: {
    storage: 'blockdev',
    id: 'device',
    mirror: 'outside',
    adoptedOnly: true,
    notConvertible: 'to',
    made: true,
    params: {},
  },
  drbd: {
    storage: 'lvm-vg',
    id: 'minors',
    mirror: 'inside',
    growable: true,
    snapshots: 'beside',
    programs: ['drbdsetup', 'drbdmeta'],
    meta: DRBD_META_SIZE_MIB,
    made: true,
    params: {
      'c-delay-target': { type: 'int', default: 1 },
      'c-fill-target': { type: 'int', default: 0 },
      'c-max-rate': { type: 'int', default: 61440 },
      'c-min-rate': { type: 'int', default: 4096 },
      'c-plan-ahead': { type: 'int', default: 20 },
      'data-stripe-size': STRIPE_SIZE,
      'data-stripes': { type: 'int', default: 1 },
      'disk-barriers': { type: 'string', default: 'n' },
      'disk-custom': { type: 'string', default: '' },
      'dynamic-resync': { type: 'bool', default: false },
      'meta-barriers': { type: 'bool', default: false },
      'meta-stripe-size': STRIPE_SIZE,
      'meta-stripes': { type: 'int', default: 1 },
      metavg: { type: 'string', default: 'xenvg' },
      'net-custom': { type: 'string', default: '' },
      protocol: { type: 'string', default: 'C' },
      'resync-rate': { type: 'int', default: 61440 },
    },
    perDisk: [
      ...['c-delay-target', 'c-fill-target', 'c-max-rate', 'c-min-rate', 'c-plan-ahead', 'dynamic-resync'],
      ...['data-stripes', 'data-stripe-size', 'meta-stripes', 'meta-stripe-size', 'resync-rate'],
      ...['disk-barriers', 'disk-custom', 'meta-barriers', 'net-custom', 'protocol'],
    ],
  },
  rbd: {
    storage: 'rados',
    id: 'image',
    mirror: 'outside',
    growable: true,
    snapshots: 'within',
    access: true,
    programs: ['rbd'],
    qemuModule: 'block-rbd.so',
    mapped: true,
    cachedTogether: true,
    made: true,
    params: { access, pool: { type: 'string', default: 'rbd' }, 'user-id': { type: 'string', default: '' } },
    places: ['pool'],
  },
  ext: {
    storage: 'ext',
    id: 'provider',
    mirror: 'outside',
    growable: true,
    snapshots: 'within',
    ownParams: true,
    access: true,
    mapped: true,
    made: true,
    params: { access },
  },
  gluster: {
    storage: 'gluster',
    id: 'file',
    mirror: 'outside',
    directory: 'gluster_storage_dir',
    check: ['gluster-storage-path', 'ENODEGLUSTERSTORAGEPATHUNUSABLE'],
    programs: ['mount.glusterfs'],
    qemuModule: 'block-gluster.so',
    growable: true,
    access: true,
    made: true,
    params: {
      access,
      host: { type: 'string', default: '127.0.0.1' },
      port: { type: 'int', default: 24007 },
      volume: { type: 'string', default: 'gv0' },
    },
    places: ['host', 'volume'],
  },
} as const satisfies Readonly<Record<string, TemplateFacts>>

export type DiskTemplate = keyof typeof TEMPLATES

const FACTS: Readonly<Record<DiskTemplate, TemplateFacts>> = TEMPLATES

export const factsOf = (template: DiskTemplate): TemplateFacts => FACTS[template]

/** The built-in values of the parameters that every cluster has. */
export const diskDefaults = (template: DiskTemplate): Params =>
  Object.fromEntries(
    Object.entries(factsOf(template).params).flatMap(([name, spec]) => (spec.ours ? [] : [[name, spec.default]])),
  )

export const isDiskTemplate = (name: string): name is DiskTemplate => Object.hasOwn(TEMPLATES, name)

export const ALLOCATION_TEMPLATES: readonly DiskTemplate[] = Object.keys(TEMPLATES).filter(isDiskTemplate)

/** By name. */
export const DISK_TEMPLATES: readonly DiskTemplate[] = ALLOCATION_TEMPLATES.toSorted()

/** The template of an instance without disks. */
export const NO_DISKS: DiskTemplate = 'diskless'

/** Stands for disks of several templates, which tie an instance to its node. */
export const IMMOVABLE: DiskTemplate = 'plain'

/** Templates for a temporary disk of a job on one node; the first enabled one is used. */
export const TEMPORARY: readonly DiskTemplate[] = ['plain', 'file', 'sharedfile']

/** The default template when an instance gets a secondary node. */
export const DEFAULT_MIRROR: DiskTemplate = 'drbd'

/** Templates whose disks take room on nodes. The storage of the first is counted before that of the others. */
const ON_NODES: readonly DiskTemplate[] = ALLOCATION_TEMPLATES.filter(
  (template) => FACTS[template].mirror !== 'outside',
).toReversed()

/**
 * The template whose storage is counted, for only one kind of storage can be: one of the given templates if it takes
 * room on nodes, else an enabled one, for the instances that are there.
 */
export function countedTemplate(
  { enabled_disk_templates: enabled }: { readonly enabled_disk_templates: readonly DiskTemplate[] },
  templates: readonly string[] = [],
): DiskTemplate {
  const desired = ON_NODES.find((one) => templates.includes(one))
  return desired ?? ON_NODES.find((one) => enabled.includes(one)) ?? enabled[0] ?? NO_DISKS
}

/** Whether its disks take room in the storage that is counted. The room for all others is unknown. */
export const takesCounted = (template: DiskTemplate, counted: DiskTemplate): boolean =>
  ON_NODES.includes(template) && FACTS[template].storage === FACTS[counted].storage

/** Undefined for `mixed`, the name for disks of several templates. */
const knownFacts = (template: string | undefined): TemplateFacts | undefined =>
  template !== undefined && isDiskTemplate(template) ? FACTS[template] : undefined

export const hasDisks = (template: string): boolean => knownFacts(template)?.empty !== true

/** The template of an instance with disks of these types. */
export function commonTemplate(types: readonly string[]): string {
  const [first = NO_DISKS, ...others] = new Set(types)
  return others.length === 0 ? first : 'mixed'
}

export const diskIdOf = (template: string | undefined): DiskId | undefined => knownFacts(template)?.id

export const isDrbd = (template: string | undefined): boolean => diskIdOf(template) === 'minors'

/** Whether each disk has copies on two nodes. */
export const isMirroredInside = (template: string | undefined): boolean => knownFacts(template)?.mirror === 'inside'

/** Whether every node of the group reaches the disks, or there are none. */
export const isMirroredOutside = (template: string): boolean => knownFacts(template)?.mirror === 'outside'

/** Whether a page cache on one node would hide its writes from others, such as the target of a migration. */
export const hidesWrites = (template: string, access?: unknown): boolean =>
  isMirroredOutside(template) && !(knownFacts(template)?.cachedTogether === true && access === 'userspace')

export const isMirrored = (template: DiskTemplate): boolean => FACTS[template].mirror !== undefined

export const isOnLvm = (template: DiskTemplate): boolean => FACTS[template].storage === 'lvm-vg'

/** The cluster's directory for files of such disks; empty if it has none. */
export function directoryOf(cluster: StorageDirectories, template: DiskTemplate): string | undefined {
  const { directory } = FACTS[template]
  return directory === undefined ? undefined : cluster[directory]
}

/** Whether disks of an enabled template use such storage. Volume groups consist of physical volumes. */
export function isStorageEnabled(
  { enabled_disk_templates: enabled }: { readonly enabled_disk_templates: readonly string[] },
  type: StorageType,
): boolean {
  const requested = type === 'lvm-pv' ? 'lvm-vg' : type
  return DISK_TEMPLATES.some((template) => FACTS[template].storage === requested && enabled.includes(template))
}

/**
 * The places of such storage, for calls to nodes: a directory for files, none for volume groups, which a node knows.
 */
export function placeOf(cluster: StorageDirectories, type: StorageType): string[][] {
  const template = DISK_TEMPLATES.find((one) => FACTS[one].storage === type)
  const directory = template === undefined ? undefined : directoryOf(cluster, template)
  return directory === undefined ? [] : [[directory]]
}

export const isFileBased = (template: string): boolean => knownFacts(template)?.directory !== undefined

/** Whether its files are in a file system of the node, below a directory that the node's administrator has listed. */
export const isInFileSystem = (template: string): boolean =>
  isFileBased(template) && knownFacts(template)?.access !== true

/** Whether its files are in a file system that only this node has. */
export const isLocalFile = (template: DiskTemplate): boolean => isFileBased(template) && !isMirrored(template)

/** Whether the units of a storage type are directories. */
export const isDirectoryStorage = (type: string): boolean =>
  DISK_TEMPLATES.some((template) => FACTS[template].storage === type && isFileBased(template))

/** Programs, and modules of QEMU, that a node needs for disks of this template with this access. */
export function neededFor(template: DiskTemplate, access: unknown): string[] {
  const { programs = [], qemuModule } = FACTS[template]
  return [...programs, ...(access === 'userspace' && qemuModule !== undefined ? [qemuModule] : [])]
}

/** The name of a needed program or module in messages to users. */
export const titleOfNeeded = (name: string): string => `${name.endsWith('.so') ? 'module of QEMU' : 'program'} ${name}`
