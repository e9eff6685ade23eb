// The cluster's object in the configuration.
import type { IpFamily } from './ip'
import type { OsParams, Params, Stamped, StaticState, Tagged } from './common'
import type { Hypervisor } from './constants/hypervisors'
import type { GroupDiskParams } from './node-group'
import type { NodeUuid } from './ids'
import type { BeParams, IPolicy, NdParams, NicParams } from './params'
import type { DiskTemplate } from './templates'

interface DataCollectorConfig {
  readonly active: boolean
  /** Microseconds between two collections. */
  readonly interval: number
}

export interface Cluster extends Stamped, Tagged {
  readonly rsahostkeypub: string
  readonly dsahostkeypub?: string
  readonly highest_used_port: number
  readonly tcpudp_port_pool: readonly number[]
  readonly mac_prefix: string
  readonly volume_group_name?: string
  readonly reserved_lvs: readonly string[]
  readonly drbd_usermode_helper?: string
  /** Empty on a cluster that has given up its master role. */
  readonly master_node: NodeUuid
  readonly master_ip: string
  readonly master_netdev: string
  readonly master_netmask: number
  readonly use_external_mip_script: boolean
  readonly cluster_name: string
  readonly file_storage_dir: string
  readonly shared_file_storage_dir: string
  readonly gluster_storage_dir: string
  /** The first one is the default. */
  readonly enabled_hypervisors: readonly Hypervisor[]
  readonly hvparams: Readonly<Record<string, Params>>
  readonly os_hvp: Readonly<Record<string, Readonly<Record<string, Params>>>>
  readonly beparams: { readonly default: BeParams }
  readonly osparams: Readonly<Record<string, OsParams>>
  readonly osparams_private_cluster: Readonly<Record<string, OsParams>>
  readonly nicparams: { readonly default: NicParams }
  readonly ndparams: NdParams
  readonly diskparams: GroupDiskParams
  readonly candidate_pool_size: number
  readonly modify_etc_hosts: boolean
  readonly modify_ssh_setup: boolean
  readonly maintain_node_health: boolean
  readonly uid_pool: readonly (readonly [low: number, high: number])[]
  readonly default_iallocator: string
  readonly default_iallocator_params: Readonly<Record<string, unknown>>
  readonly hidden_os: readonly string[]
  readonly blacklisted_os: readonly string[]
  readonly primary_ip_family: IpFamily
  readonly prealloc_wipe_disks: boolean
  readonly ipolicy: IPolicy
  readonly hv_state_static: StaticState
  readonly disk_state_static: StaticState
  /** Order matters: a new instance gets the first one by default. */
  readonly enabled_disk_templates: readonly DiskTemplate[]
  /** SHA-1 digest of each candidate's client certificate. noded obeys only these. */
  readonly candidate_certs: Readonly<Record<string, string>>
  readonly max_running_jobs: number
  readonly max_tracked_jobs: number
  readonly install_image: string
  readonly instance_communication_network: string
  readonly zeroing_image: string
  readonly compression_tools: readonly string[]
  readonly enabled_user_shutdown: boolean
  readonly data_collectors: Readonly<Record<string, DataCollectorConfig>>
  readonly ssh_key_type: 'rsa' | 'dsa' | 'ecdsa'
  readonly ssh_key_bits: number
  readonly uuid: string
}

/** Fields that the maker of a new cluster decides; the others have defaults. */
export type FirstFields = Partial<Cluster> &
  Pick<Cluster, 'enabled_disk_templates' | 'enabled_hypervisors' | 'master_netdev' | 'modify_etc_hosts'>
