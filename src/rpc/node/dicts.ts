// Objects in node calls (spec: noded-rpc.json "encodings"): configuration objects with their parameters filled. Unset
// fields are missing, never null, as in Ganeti.
import type { ConfigStatus } from '../../config/copy-status'

export type HvParams = Readonly<Record<string, unknown>>

interface BeParams {
  readonly minmem: number
  readonly maxmem: number
  readonly vcpus: number
  readonly auto_balance: boolean
  readonly always_failover: boolean
  readonly spindle_use: number
}

export interface NetworkDict {
  readonly uuid: string
  readonly name: string
  readonly network: string
  readonly gateway?: string
  readonly network6?: string
  readonly gateway6?: string
  readonly mac_prefix?: string
  readonly tags?: readonly string[]
}

export interface NicDict {
  readonly uuid: string
  readonly name?: string
  readonly mac: string
  readonly ip?: string
  /** UUID of the network. */
  readonly network?: string
  readonly nicparams: { readonly mode?: string; readonly link?: string; readonly vlan?: string }
  /** The network itself, if the NIC is in one. */
  readonly netinfo?: NetworkDict
}

export interface DiskDict {
  readonly uuid: string
  readonly name?: string
  /** Disk template of this device: `file`, `sharedfile`, `plain`, ... */
  readonly dev_type: string
  /** Shape by dev_type; for files `[driver, path]`. */
  readonly logical_id?: readonly (string | number | null)[]
  readonly children?: readonly DiskDict[]
  readonly nodes?: readonly string[]
  readonly iv_name?: string
  /** MiB. */
  readonly size: number
  readonly mode?: string
  readonly params?: Readonly<Record<string, unknown>>
  /** DRBD addresses and minors: by node UUID at the caller, only the node's own ones at the node. */
  readonly dynamic_params?: Readonly<Record<string, unknown>>
  readonly spindles?: number
  readonly forthcoming?: boolean
  readonly serial_no?: number
  readonly ctime?: number
  readonly mtime?: number
}

export interface InstanceDict {
  readonly uuid: string
  readonly name: string
  /** Node UUID. */
  readonly primary_node: string
  readonly secondary_nodes: readonly string[]
  readonly os: string
  readonly hypervisor: string
  readonly hvparams: HvParams
  readonly beparams: BeParams
  readonly osparams: Readonly<Record<string, string>>
  readonly osparams_private?: Readonly<Record<string, string>>
  readonly admin_state: string
  readonly admin_state_source?: string
  readonly nics: readonly NicDict[]
  /** Disk UUIDs, in order; the disks themselves are in disks_info. */
  readonly disks: readonly string[]
  readonly disks_info: readonly DiskDict[]
  readonly disk_template?: string
  readonly disks_active: boolean
  readonly network_port?: number
  readonly tags?: readonly string[]
  readonly forthcoming?: boolean
  readonly serial_no?: number
  readonly ctime?: number
  readonly mtime?: number
}

/** The data of an instance that its guest may ask for; `InstanceDict` fits. */
export interface MetadataDict extends Pick<
  InstanceDict,
  'uuid' | 'name' | 'os' | 'nics' | 'disks_info' | 'tags' | 'osparams' | 'osparams_private'
> {
  /**
   * Secret and private parameters, only while the instance is installed. If both are missing, the earlier ones stay.
   */
  readonly osparams_secret?: Readonly<Record<string, string>>
}

/** `[source, reason, nanoseconds]`. */
export type ReasonTrail = readonly (readonly [source: string, reason: string, time_ns: number])[]

/** Live data of one instance; state: 0 running, 1 shut down (by its user). */
export interface InstanceRuntime {
  memory: number
  vcpus: number
  state: number
  time: number
  /**
   * Indexes of NICs with user-mode networking, because privileges or the bridge are missing; absent if there are none.
   */
  user_nics?: readonly number[]
  /**
   * QEMU's name for the state of a machine that exists but does not run, such as `paused` or `io-error`. Ganeti's nodes
   * never send it.
   */
  machine_state?: string
}

export interface MigrationStatus {
  /** `active`, `completed`, `failed` or `cancelled`; after a switch to post-copy QEMU's own words `postcopy-...`. */
  status: string
  transferred_ram?: number
  total_ram?: number
  /** The switch to post-copy was asked for. */
  postcopy_status?: string
}

export interface MigrationSideStatus extends MigrationStatus {
  /** The guest may have newer memory on the target, so the source must not resume it. Ganeti's nodes never tell it. */
  switched?: boolean
}

export const MIGRATION_SIDES = ['source', 'target'] as const
export type MigrationSideName = (typeof MIGRATION_SIDES)[number]

export interface BlockDeviceStatus {
  dev_path: string
  major?: number
  minor?: number
  sync_percent?: number
  estimated_time?: number
  is_degraded: boolean
  /** 1 ok, 2 syncing, 3 unknown, 4 faulty. */
  ldisk_status: number
}

/** MiB; null if the node cannot tell. */
export interface StorageInfo {
  type: string
  name: string
  storage_free: number | null
  storage_size: number | null
}

/** Memory in MiB. */
export interface HypervisorInfo {
  memory_total: number
  memory_free: number
  memory_dom0: number
  cpu_total: number
  cpu_nodes: number
  cpu_sockets: number
  cpu_dom0: number
  memory_hv?: number
  hv_version?: unknown
}

export type StorageUnit = readonly [type: string, key: string, params: readonly unknown[]]
export type NodeInfo = readonly [
  bootId: string,
  storage: readonly (StorageInfo | null)[] | null,
  hypervisors: readonly (HypervisorInfo | null)[] | null,
]

export interface MasterParams {
  readonly uuid: string
  readonly ip: string
  readonly netmask: number
  readonly netdev: string
  /** 2 is IPv4, 10 is IPv6. */
  readonly ip_family: number
}

export interface ConsoleInfo {
  instance: string
  kind: 'msg' | 'spice' | 'ssh' | 'vnc'
  message?: string
  host?: string
  port?: number
  user?: string
  command?: readonly string[]
  display?: number
}

/** Instance, node and group from the configuration, with filled parameters. */
export interface ConsoleRequest {
  readonly instance: Pick<InstanceDict, 'name' | 'hypervisor' | 'network_port'>
  readonly node: { readonly name?: string; readonly ndparams?: object }
  readonly group: { readonly ndparams?: object }
  readonly hvParams: HvParams
  readonly beParams: object
}

export type OsDiagnosis = readonly [
  name: string,
  path: string,
  ok: boolean,
  message: string,
  variants: readonly string[],
  parameters: readonly (readonly [name: string, description: string])[],
  apiVersions: readonly number[],
  trusted: boolean,
]

/** 0 skipped, 1 failed, 2 succeeded. */
export type HookResult = readonly [script: string, code: 0 | 1 | 2, output: string]

export interface UploadedFile {
  readonly path: string
  readonly content: string
  readonly mode: number | null
  readonly owner: string | null
  readonly group: string | null
  readonly atime: number | null
  readonly mtime: number | null
}

export interface ImpExpStatus {
  recent_output: readonly string[]
  listen_port?: number
  connected?: boolean
  progress_mbytes?: number
  progress_throughput?: number
  progress_eta?: number
  progress_percent?: number
  exit_status?: number
  error_message?: string
  ctime: number
  mtime: number
}

export interface ImpExpOptions {
  readonly key_name?: string
  readonly ca_pem?: string
  readonly compress?: string
  readonly magic?: string
  readonly ipv6?: boolean
  readonly connect_timeout?: number
}

/** `raw`: [disk]; `script`: [disk, index text]; `file`: [path]. */
export type ImpExpEnd = readonly [kind: string, args: readonly unknown[]]

/** `path` is a path of a real node, as in a disk's logical id. */
/** A file that an administrator has distributed: its content, and who may do what with it. */
export interface DistributedFile {
  readonly base64: string
  readonly owner: string
  readonly group: string
  readonly mode: number
}
export type StoredFile = readonly [path: string, size_bytes: number]

export interface VolumeInfo {
  name: string
  size: string
  dev: string
  vg: string
}

/**
 * A master candidate's copies: the serial number of the configuration (null without one), and for each job whether it
 * has ended.
 */
export interface ReplicaContents {
  readonly config_serial: number | null
  /** Null without a configuration. Earlier versions do not tell it. */
  readonly config?: ConfigStatus | null | undefined
  /** The last job number that is given out. Earlier versions do not tell it. */
  readonly serial?: number | undefined
  readonly jobs: readonly (readonly [id: number, ended: boolean])[]
}
