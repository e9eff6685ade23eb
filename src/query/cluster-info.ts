// QueryClusterInfo: the cluster in one object, as clients of all versions expect it. Pure.
import { ConfigIndex } from './config-index'
import * as os from 'node:os'
import type { ConfigData } from '../model/config'
import { versionOf } from '../model/ip'
import type { ClusterInfo } from '../model/cluster-info'
import {
  CONFIG_VERSION,
  EXPORT_VERSION,
  OS_API_VERSIONS,
  PROTOCOL_VERSION,
  RELEASE_VERSION,
} from '../model/constants/versions'

export const architecture = (): [string, string] => ['64bits', os.machine()]

export function clusterInfo(config: ConfigData): Record<keyof ClusterInfo, unknown> {
  const { cluster } = config
  const collectors = Object.entries(cluster.data_collectors)
  return {
    ...versions(),
    name: cluster.cluster_name,
    master: ConfigIndex.of(config).master()?.name ?? null,
    default_hypervisor: cluster.enabled_hypervisors[0] ?? null,
    enabled_hypervisors: cluster.enabled_hypervisors,
    hvparams: cluster.hvparams,
    os_hvp: cluster.os_hvp,
    beparams: cluster.beparams,
    osparams: cluster.osparams,
    ipolicy: cluster.ipolicy,
    nicparams: cluster.nicparams,
    ndparams: cluster.ndparams,
    diskparams: cluster.diskparams,
    candidate_pool_size: cluster.candidate_pool_size,
    max_running_jobs: cluster.max_running_jobs,
    max_tracked_jobs: cluster.max_tracked_jobs,
    mac_prefix: cluster.mac_prefix,
    master_netdev: cluster.master_netdev,
    master_netmask: cluster.master_netmask,
    use_external_mip_script: cluster.use_external_mip_script,
    volume_group_name: cluster.volume_group_name ?? null,
    drbd_usermode_helper: cluster.drbd_usermode_helper ?? null,
    file_storage_dir: cluster.file_storage_dir,
    shared_file_storage_dir: cluster.shared_file_storage_dir,
    gluster_storage_dir: cluster.gluster_storage_dir,
    maintain_node_health: cluster.maintain_node_health,
    ctime: cluster.ctime,
    mtime: cluster.mtime,
    uuid: cluster.uuid,
    tags: [...cluster.tags].sort(),
    uid_pool: cluster.uid_pool,
    default_iallocator: cluster.default_iallocator,
    default_iallocator_params: cluster.default_iallocator_params,
    reserved_lvs: cluster.reserved_lvs,
    primary_ip_version: versionOf(cluster.primary_ip_family),
    prealloc_wipe_disks: cluster.prealloc_wipe_disks,
    hidden_os: cluster.hidden_os,
    blacklisted_os: cluster.blacklisted_os,
    enabled_disk_templates: cluster.enabled_disk_templates,
    install_image: cluster.install_image,
    instance_communication_network: cluster.instance_communication_network,
    zeroing_image: cluster.zeroing_image,
    compression_tools: cluster.compression_tools,
    enabled_user_shutdown: cluster.enabled_user_shutdown,
    enabled_data_collectors: Object.fromEntries(collectors.map(([name, { active }]) => [name, active])),
    data_collector_interval: Object.fromEntries(collectors.map(([name, { interval }]) => [name, interval])),
    modify_ssh_setup: cluster.modify_ssh_setup,
    ssh_key_type: cluster.ssh_key_type,
    ssh_key_bits: cluster.ssh_key_bits,
  }
}

const versions = () => ({
  software_version: RELEASE_VERSION,
  protocol_version: PROTOCOL_VERSION,
  config_version: CONFIG_VERSION,
  os_api_version: Math.max(...OS_API_VERSIONS),
  export_version: EXPORT_VERSION,
  vcs_version: `(gantry) version ${RELEASE_VERSION}`,
  architecture: architecture(),
})
