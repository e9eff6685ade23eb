// Options that only gnt-cluster has.
import { VERIFY_CODE_NAMES } from '../../model/constants/verify-codes'
import { flag, value } from '../input/option'

export const oAddUids = value('--add-uids', 'add_uids', 'string', 'UIDs or ranges to put into the pool')
export const oAllNodes = flag('--all', 'show_all', 'all nodes but the master')
export const oCandidatePoolSize = value(
  '--candidate-pool-size',
  'candidate_pool_size',
  'int',
  'wanted number of master candidates',
  { short: '-C' },
)
export const oClusterDomainSecret = value(
  '--cluster-domain-secret',
  'cluster_domain_secret',
  'string',
  'file with the new domain secret',
)
export const oClusterFileStorageDir = value(
  '--file-storage-dir',
  'file_storage_dir',
  'string',
  'file storage directory',
  { metavar: 'DIR' },
)
export const oCompressionTools = value(
  '--compression-tools',
  'compression_tools',
  'string',
  'allowed compression tools',
)
export const oDataCollectorInterval = value(
  '--data-collector-interval',
  'data_collector_interval',
  'keyval',
  'collector intervals in seconds',
)
export const oDebugSimulateErrors = flag('--debug-simulate-errors', 'simulate_errors', 'make checks fail on purpose')
export const oDefaultIallocator = value('--default-iallocator', 'default_iallocator', 'string', 'default allocator', {
  short: '-I',
  metavar: '<NAME>',
})
export const oDefaultIallocatorParams = value(
  '--default-iallocator-params',
  'default_iallocator_params',
  'keyval',
  'default allocator parameters',
)
export const oDefaultIallocators = value(
  '--default-iallocators',
  'default_iallocators',
  'keyval',
  'default allocators by kind of question, asked in order: allocate=hail:mine,relocate=; none for the default one',
  { metavar: 'KIND=NAME[:NAME...]' },
)
export const oDrbdUsermodeHelper = value('--drbd-usermode-helper', 'drbd_helper', 'string', 'DRBD helper program')
export const oEnabledDataCollectors = value(
  '--enabled-data-collectors',
  'enabled_data_collectors',
  'keyval',
  'switch collectors on or off',
)
export const oEnabledDiskTemplates = value(
  '--enabled-disk-templates',
  'enabled_disk_templates',
  'string',
  'templates in use, comma list',
)
export const oEnabledHypervisors = value(
  '--enabled-hypervisors',
  'enabled_hypervisors',
  'string',
  'hypervisors in use, comma list',
)
export const oErrorCodes = flag('--error-codes', 'error_codes', 'machine-readable messages')
export const oFailureOnly = flag('--failure-only', 'failure_only', 'show failing nodes only')
export const oGlusterStorageDir = value(
  '--gluster-storage-dir',
  'gluster_storage_dir',
  'string',
  'gluster mount directory',
  { default: '/var/run/ganeti/gluster', metavar: 'GLUSTERDIR' },
)
export const oGroups = flag('--groups', 'groups', 'arguments name groups')
export const oIgnoreErrors = value(
  '--ignore-errors',
  'ignore_errors',
  'choice',
  'check code to downgrade to a warning',
  {
    short: '-I',
    choices: VERIFY_CODE_NAMES,
    repeatable: true,
  },
)
export const oIgnoreOfflineNodes = flag(
  '--ignore-offline-nodes',
  'ignore_offline_nodes',
  'leave offline nodes out of the vote',
)
export const oInstallImage = value('--install-image', 'install_image', 'string', 'image for safe OS scripts')
export const oInstanceCommunicationNetwork = value(
  '--instance-communication-network',
  'instance_communication_network',
  'string',
  'network for instance communication',
)
export const oIpolicyStdSpecs = value('--ipolicy-std-specs', 'ipolicy_std_specs', 'keyval', 'standard specs')
export const oMacPrefix = value('--mac-prefix', 'mac_prefix', 'string', 'MAC prefix XX:XX:XX', {
  short: '-m',
  metavar: 'PREFIX',
})
export const oMaintainNodeHealth = value(
  '--maintain-node-health',
  'maintain_node_health',
  'bool',
  'watcher stops unknown instances and DRBD',
  { metavar: 'yes|no' },
)
export const oMasterNetdev = value('--master-netdev', 'master_netdev', 'string', 'interface of the master IP', {
  metavar: 'NETDEV',
})
export const oMasterNetmask = value('--master-netmask', 'master_netmask', 'string', 'netmask of the master IP', {
  metavar: 'NETMASK',
})
export const oMaxRunningJobs = value('--max-running-jobs', 'max_running_jobs', 'int', 'limit of running jobs')
export const oMaxTrackedJobs = value('--max-tracked-jobs', 'max_tracked_jobs', 'int', 'limit of tracked jobs')
export const oModifyEtcHosts = value('--modify-etc-hosts', 'modify_etc_hosts', 'bool', 'maintain /etc/hosts', {
  metavar: 'yes|no',
})
export const oNewClusterCertificate = flag(
  '--new-cluster-certificate',
  'new_cluster_cert',
  'make a new cluster certificate',
)
export const oNewClusterDomainSecret = flag(
  '--new-cluster-domain-secret',
  'new_cluster_domain_secret',
  'make a new domain secret',
)
export const oNewConfdHmacKey = flag('--new-confd-hmac-key', 'new_confd_hmac_key', 'make a new confd key')
export const oNewNodeCertificates = flag('--new-node-certificates', 'new_node_cert', 'make new node certificates')
export const oNewRapiCertificate = flag('--new-rapi-certificate', 'new_rapi_cert', 'make a new RAPI certificate')
export const oNewSpiceCertificate = flag('--new-spice-certificate', 'new_spice_cert', 'make a new SPICE certificate')
export const oNewSshKeys = flag('--new-ssh-keys', 'new_ssh_keys', 'make new ssh keys')
export const oNicParameters = value('--nic-parameters', 'nicparams', 'keyval', 'NIC parameters', { short: '-N' })
export const oNoEtcHosts = flag('--no-etc-hosts', 'modify_etc_hosts', 'leave /etc/hosts alone', { stores: false })
export const oNoHvParamAssessment = flag(
  '--no-hv-param-assessment',
  'skip_hvparam_assessment',
  'skip hypervisor parameter review',
)
export const oNoNplus1Mem = flag('--no-nplus1-mem', 'skip_nplusone_mem', 'skip N+1 memory check')
export const oNoSshInit = flag(
  '--no-ssh-init',
  'modify_ssh_setup',
  'no SSH keys are made, which this version cannot: always needed',
  { stores: false },
)
export const oNoStrict = flag('--no-strict', 'no_strict', 'tolerate node errors')
export const oNoVoting = flag('--no-voting', 'no_voting', 'skip the master vote')
export const oOn = flag('--on', 'on', 'power on again')
export const oPreallocWipeDisks = value('--prealloc-wipe-disks', 'prealloc_wipe_disks', 'bool', 'wipe new disks', {
  metavar: 'yes|no',
})
export const oPrimaryIpVersion = value(
  '--primary-ip-version',
  'primary_ip_version',
  'string',
  'only 4 is possible in this version',
  {
    default: 4,
    metavar: '4|6',
  },
)
export const oRapiCertificate = value('--rapi-certificate', 'rapi_cert', 'string', 'file with the new RAPI certificate')
export const oRemoveUids = value('--remove-uids', 'remove_uids', 'string', 'UIDs or ranges to drop from the pool')
export const oReservedLvs = value(
  '--reserved-lvs',
  'reserved_lvs',
  'string',
  'volumes verify ignores, comma list of regexes',
)
export const oResume = flag('--resume', 'resume', 'continue an interrupted upgrade')
export const oSharedFileStorageDir = value(
  '--shared-file-storage-dir',
  'shared_file_storage_dir',
  'string',
  'shared file storage directory',
  { metavar: 'SHAREDDIR' },
)
export const oSpecsCpuCount = value('--specs-cpu-count', 'ispecs_cpu_count', 'keyval', 'min/max/std of CPUs')
export const oSpecsDiskCount = value('--specs-disk-count', 'ispecs_disk_count', 'keyval', 'min/max/std of disks')
export const oSpecsDiskSize = value('--specs-disk-size', 'ispecs_disk_size', 'keyval', 'min/max/std of disk size')
export const oSpecsMemSize = value('--specs-mem-size', 'ispecs_mem_size', 'keyval', 'min/max/std of memory')
export const oSpecsNicCount = value('--specs-nic-count', 'ispecs_nic_count', 'keyval', 'min/max/std of NICs')
export const oSpiceCaCertificate = value('--spice-ca-certificate', 'spice_cacert', 'string', 'CA file for SPICE')
export const oSpiceCertificate = value(
  '--spice-certificate',
  'spice_cert',
  'string',
  'file with the new SPICE certificate',
)
export const oSshKeyBits = value('--ssh-key-bits', 'ssh_key_bits', 'int', 'ssh key length')
export const oSshKeyType = value('--ssh-key-type', 'ssh_key_type', 'choice', 'ssh key type', {
  choices: ['dsa', 'ecdsa', 'rsa'],
})
export const oToVersion = value('--to', 'to', 'string', 'version to go to')
export const oUidPool = value('--uid-pool', 'uid_pool', 'string', 'UIDs and ranges')
export const oUseExternalMipScript = value(
  '--use-external-mip-script',
  'use_external_mip_script',
  'bool',
  'use the local master IP script',
  { metavar: 'yes|no' },
)
export const oUseReplicationNetwork = flag(
  '--use-replication-network',
  'use_replication_network',
  'go through secondary IPs',
)
export const oUserShutdown = value('--user-shutdown', 'enabled_user_shutdown', 'bool', 'allow shutdown from inside')
export const oVerifySshClutter = flag('--verify-ssh-clutter', 'verify_clutter', 'look for stray authorized keys')
export const oVgName = value('--vg-name', 'vg_name', 'string', 'volume group, empty disables LVM', { metavar: 'VG' })
export const oYesDoIt = flag(['--yes-do-it', '--ya-rly'], 'yes_do_it', 'confirm destruction')
export const oYesDoItDrained = flag('--yes-do-it', 'yes_do_it', 'work even if the queue is drained')
export const oZeroingImage = value('--zeroing-image', 'zeroing_image', 'string', 'image used for zeroing')

export const CLUSTER_OPTIONS = [
  oCandidatePoolSize,
  oEnabledHypervisors,
  oClusterFileStorageDir,
  oMacPrefix,
  oMasterNetdev,
  oMasterNetmask,
  oNicParameters,
  oVgName,
  oMaintainNodeHealth,
  oUidPool,
  oDrbdUsermodeHelper,
  oDefaultIallocator,
  oDefaultIallocatorParams,
  oPreallocWipeDisks,
  oSharedFileStorageDir,
  oUseExternalMipScript,
  oEnabledDiskTemplates,
  oIpolicyStdSpecs,
  oInstallImage,
  oZeroingImage,
  oCompressionTools,
  oUserShutdown,
]
