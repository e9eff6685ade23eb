// The configuration of a new cluster: one node, its master, in one group.
import { DATA_COLLECTORS, DATA_COLLECTOR_INTERVAL } from '../model/constants/collectors'
import type { Cluster, ConfigData, GroupDiskParams, Node, NodeGroup, Params } from '../model/config'
import type { ChangeContext } from './edit'
import { DEFAULT_ENABLED_DISK_TEMPLATES } from '../model/constants/disks'
import { DEFAULT_HYPERVISOR, HYPERVISORS_AS_WRITTEN, hvDefaults } from '../model/constants/hypervisors'
import { MAX_RUNNING_JOBS, MAX_TRACKED_JOBS } from '../model/constants/jobs'
import { BE_DEFAULTS, DEFAULT_BRIDGE, DEFAULT_MAC_PREFIX, IPOLICY_DEFAULTS } from '../model/constants/params'
import { ND_DEFAULTS, NIC_DEFAULTS } from '../model/constants/params'
import { PATH } from '../model/constants/paths'
import { CONFIG_VERSION } from '../model/constants/versions'
import {
  BUILTIN_IALLOCATOR,
  COMPRESSION_TOOLS_DEFAULT,
  INITIAL_GROUP,
  SSH_KEY_BITS_DEFAULT,
  SSH_KEY_TYPE_DEFAULT,
} from '../model/constants/words'
import { groupUuid, nodeUuid } from '../model/ids'
import { recordFrom } from './records'
import { canonical, canonicalCluster } from './schema'
import { DISK_TEMPLATES, diskDefaults } from '../model/templates'

export interface InitialCluster {
  readonly clusterName: string
  readonly masterIp: string
  readonly masterName: string
  readonly primaryIp: string
  /** Default: the primary address. */
  readonly secondaryIp?: string
  /** Digest of the master's client certificate. */
  readonly masterCertDigest: string
  /** Fields of the cluster that differ from the default. */
  readonly cluster?: Partial<Cluster>
}

export function initialConfig(desired: InitialCluster, context: ChangeContext): ConfigData {
  const { now_s, random } = context
  const stamps = { ctime: now_s, mtime: now_s, serial_no: 1, tags: [] }
  const group: NodeGroup = {
    name: INITIAL_GROUP,
    members: [],
    ndparams: {},
    alloc_policy: 'preferred',
    ipolicy: {},
    diskparams: {},
    networks: {},
    ...stamps,
    uuid: groupUuid(random.uuid()),
  }
  const master: Node = {
    name: desired.masterName,
    primary_ip: desired.primaryIp,
    secondary_ip: desired.secondaryIp ?? desired.primaryIp,
    master_candidate: true,
    offline: false,
    drained: false,
    group: group.uuid,
    master_capable: true,
    vm_capable: true,
    ndparams: {},
    powered: true,
    ...stamps,
    uuid: nodeUuid(random.uuid()),
  }
  const cluster: Cluster = {
    ...clusterDefaults(),
    cluster_name: desired.clusterName,
    master_ip: desired.masterIp,
    master_node: master.uuid,
    candidate_certs: { [master.uuid]: desired.masterCertDigest },
    ...stamps,
    uuid: random.uuid(),
    ...desired.cluster,
  }
  return {
    version: CONFIG_VERSION,
    cluster: canonicalCluster({ ...cluster, ipolicy: withEnabledTemplates(cluster) }),
    nodes: recordFrom([[master.uuid, canonical('nodes', master)]]),
    nodegroups: recordFrom([[group.uuid, canonical('nodegroups', group)]]),
    instances: recordFrom([]),
    networks: recordFrom([]),
    disks: recordFrom([]),
    filters: recordFrom([]),
    ctime: now_s,
    mtime: now_s,
    serial_no: 1,
  }
}

/** As in Ganeti: while a policy allows a template that is not enabled, every other change of it is refused. */
function withEnabledTemplates({ ipolicy, enabled_disk_templates }: Cluster): Cluster['ipolicy'] {
  const allowed = ipolicy['disk-templates'].filter((template) => enabled_disk_templates.includes(template))
  return { ...ipolicy, 'disk-templates': allowed }
}

type Identity =
  'cluster_name' | 'master_ip' | 'master_node' | 'candidate_certs' | 'uuid' | 'ctime' | 'mtime' | 'serial_no' | 'tags'

/** Defaults for a new cluster, and for missing fields of an old one. */
export function clusterDefaults(): Omit<Cluster, Identity> {
  return {
    rsahostkeypub: '',
    highest_used_port: 10999,
    tcpudp_port_pool: [],
    mac_prefix: DEFAULT_MAC_PREFIX,
    volume_group_name: 'xenvg',
    reserved_lvs: [],
    master_netdev: DEFAULT_BRIDGE,
    master_netmask: 32,
    use_external_mip_script: false,
    file_storage_dir: PATH.DEFAULT_FILE_STORAGE_DIR,
    shared_file_storage_dir: PATH.DEFAULT_SHARED_FILE_STORAGE_DIR,
    gluster_storage_dir: PATH.DEFAULT_GLUSTER_STORAGE_DIR,
    enabled_hypervisors: [DEFAULT_HYPERVISOR],
    hvparams: allHvDefaults(),
    os_hvp: {},
    beparams: { default: BE_DEFAULTS },
    osparams: {},
    osparams_private_cluster: {},
    nicparams: { default: NIC_DEFAULTS },
    ndparams: ND_DEFAULTS,
    diskparams: allDiskDefaults(),
    candidate_pool_size: 10,
    modify_etc_hosts: true,
    modify_ssh_setup: true,
    maintain_node_health: false,
    uid_pool: [],
    default_iallocator: BUILTIN_IALLOCATOR,
    default_iallocator_params: {},
    hidden_os: [],
    blacklisted_os: [],
    primary_ip_family: 2,
    prealloc_wipe_disks: false,
    ipolicy: IPOLICY_DEFAULTS,
    hv_state_static: {},
    disk_state_static: {},
    enabled_disk_templates: DEFAULT_ENABLED_DISK_TEMPLATES,
    max_running_jobs: MAX_RUNNING_JOBS,
    max_tracked_jobs: MAX_TRACKED_JOBS,
    install_image: '',
    instance_communication_network: '',
    zeroing_image: '',
    compression_tools: COMPRESSION_TOOLS_DEFAULT,
    enabled_user_shutdown: false,
    data_collectors: Object.fromEntries(
      DATA_COLLECTORS.map((name) => [name, { active: true, interval: DATA_COLLECTOR_INTERVAL }]),
    ),
    ssh_key_type: SSH_KEY_TYPE_DEFAULT,
    ssh_key_bits: SSH_KEY_BITS_DEFAULT,
  }
}

const allHvDefaults = (): Record<string, Params> =>
  Object.fromEntries(HYPERVISORS_AS_WRITTEN.map((name) => [name, hvDefaults(name)]))

const allDiskDefaults = (): GroupDiskParams =>
  Object.fromEntries(DISK_TEMPLATES.map((template) => [template, diskDefaults(template)]))
