// The cluster in one object, in the form in which QueryClusterInfo shows it to clients of all versions.

interface ParamsOf {
  [name: string]: unknown
}

interface NamedParams {
  [name: string]: ParamsOf
}

/** The cluster and its settings. */
export interface ClusterInfo {
  software_version: string
  protocol_version: number
  config_version: number
  os_api_version: number
  export_version: number
  vcs_version: string
  /** Word size and machine. */
  architecture: string[]
  name: string
  /** The name of the master node. */
  master: string | null
  default_hypervisor: string | null
  enabled_hypervisors: string[]
  hvparams: NamedParams
  os_hvp: { [os: string]: NamedParams }
  beparams: NamedParams
  osparams: NamedParams
  ipolicy: ParamsOf
  nicparams: NamedParams
  ndparams: ParamsOf
  diskparams: NamedParams
  candidate_pool_size: number
  max_running_jobs: number
  max_tracked_jobs: number
  mac_prefix: string
  master_netdev: string
  master_netmask: number
  use_external_mip_script: boolean
  volume_group_name: string | null
  drbd_usermode_helper: string | null
  file_storage_dir: string
  shared_file_storage_dir: string
  gluster_storage_dir: string
  maintain_node_health: boolean
  /** Seconds since the epoch. @isDouble */
  ctime: number
  /** @isDouble */
  mtime: number
  uuid: string
  tags: string[]
  /** First and last user id of each range. */
  uid_pool: number[][]
  default_iallocator: string
  default_iallocator_params: ParamsOf
  reserved_lvs: string[]
  primary_ip_version: number
  prealloc_wipe_disks: boolean
  hidden_os: string[]
  blacklisted_os: string[]
  enabled_disk_templates: string[]
  install_image: string
  instance_communication_network: string
  zeroing_image: string
  compression_tools: string[]
  enabled_user_shutdown: boolean
  enabled_data_collectors: { [collector: string]: boolean }
  /** Microseconds. */
  data_collector_interval: { [collector: string]: number }
  modify_ssh_setup: boolean
  ssh_key_type: string
  ssh_key_bits: number
}
