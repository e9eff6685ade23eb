// Options that only gnt-cluster has. Written by hand: options without an opcode, ranges of user ids, the netmask, which
// need not be a number, and dictionaries whose values are parsed one by one.
import { AWAITS_JOBS_S } from '../../model/limits/adoption'
import { VERIFY_CODE_NAMES } from '../../model/constants/verify-codes'
import { OpClusterRenewCrypto, OpClusterSetParams, OpClusterVerify } from '../../opcodes/cluster'
import { flag, parameter, value } from '../input/option'

export const oAddUids = value('--add-uids', 'add_uids', 'string', 'UIDs or ranges to put into the pool')
export const oAllNodes = flag('--all', 'show_all', 'all nodes but the master')
const oCandidatePoolSize = parameter(OpClusterSetParams, 'candidate_pool_size', { short: '-C' })
export const oClusterDomainSecret = value(
  '--cluster-domain-secret',
  'cluster_domain_secret',
  'string',
  'file with the new domain secret',
)
const oClusterFileStorageDir = parameter(OpClusterSetParams, 'file_storage_dir', { metavar: 'DIR' })
const oCompressionTools = parameter(OpClusterSetParams, 'compression_tools', {
  help: 'allowed compression tools',
})
export const oDataCollectorInterval = value(
  '--data-collector-interval',
  'data_collector_interval',
  'keyval',
  'collector intervals in seconds',
)
export const oDebugSimulateErrors = parameter(OpClusterVerify, 'debug_simulate_errors')
const oDefaultIallocator = parameter(OpClusterSetParams, 'default_iallocator', {
  short: '-I',
  metavar: '<NAME>',
})
const oDefaultIallocatorParams = parameter(OpClusterSetParams, 'default_iallocator_params')
export const oDefaultIallocators = value(
  '--default-iallocators',
  'default_iallocators',
  'keyval',
  'default allocators by kind of question, asked in order: allocate=hail:mine,relocate=; none for the default one',
  { metavar: 'KIND=NAME[:NAME...]' },
)
const oDrbdUsermodeHelper = parameter(OpClusterSetParams, 'drbd_helper', { long: '--drbd-usermode-helper' })
export const oEnabledDataCollectors = value(
  '--enabled-data-collectors',
  'enabled_data_collectors',
  'keyval',
  'switch collectors on or off',
)
const oEnabledDiskTemplates = parameter(OpClusterSetParams, 'enabled_disk_templates', {
  help: 'templates in use, comma list',
})
const oEnabledHypervisors = parameter(OpClusterSetParams, 'enabled_hypervisors', {
  help: 'hypervisors in use, comma list',
})
export const oErrorCodes = parameter(OpClusterVerify, 'error_codes')
export const oFailureOnly = flag('--failure-only', 'failure_only', 'show failing nodes only')
export const oGlusterStorageDir = parameter(OpClusterSetParams, 'gluster_storage_dir', {
  default: '/var/run/ganeti/gluster',
  metavar: 'GLUSTERDIR',
})
export const oGroups = flag('--groups', 'groups', 'arguments name groups')
export const oCategories = value('--category', 'categories', 'list', 'only reports of these categories, comma list', {
  metavar: 'CATEGORY',
})
export const oCollectors = value('--collector', 'collectors', 'list', 'only reports of these collectors, comma list', {
  metavar: 'NAME',
})
export const oInterval = value('--interval', 'interval', 'float', 'with --live, seconds between two looks', {
  ...{ default: 2, metavar: 'SECONDS' },
})
export const oLive = flag('--live', 'live', 'show it again and again, until Ctrl-C')
export const oReports = flag('--reports', 'reports', 'with --json, the reports themselves, too')
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
const oInstallImage = parameter(OpClusterSetParams, 'install_image')
export const oInstanceCommunicationNetwork = parameter(OpClusterSetParams, 'instance_communication_network')
const oIpolicyStdSpecs = value('--ipolicy-std-specs', 'ipolicy_std_specs', 'keyval', 'standard specs')
const oMacPrefix = parameter(OpClusterSetParams, 'mac_prefix', {
  short: '-m',
  metavar: 'PREFIX',
  help: 'MAC prefix XX:XX:XX',
})
const oMaintainNodeHealth = parameter(OpClusterSetParams, 'maintain_node_health')
const oMasterNetdev = parameter(OpClusterSetParams, 'master_netdev', { metavar: 'NETDEV' })
const oMasterNetmask = value('--master-netmask', 'master_netmask', 'string', 'netmask of the master IP', {
  metavar: 'NETMASK',
})
export const oMaxRunningJobs = parameter(OpClusterSetParams, 'max_running_jobs')
export const oMaxTrackedJobs = parameter(OpClusterSetParams, 'max_tracked_jobs')
export const oModifyEtcHosts = parameter(OpClusterSetParams, 'modify_etc_hosts')
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
const oNicParameters = value('--nic-parameters', 'nicparams', 'keyval', 'NIC parameters', { short: '-N' })
export const oNoEtcHosts = parameter(OpClusterSetParams, 'modify_etc_hosts', {
  long: '--no-etc-hosts',
  type: 'flag',
  stores: false,
  default: true,
  help: 'leave /etc/hosts alone',
})
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
const oPreallocWipeDisks = parameter(OpClusterSetParams, 'prealloc_wipe_disks')
export const oPrimaryIpVersion = value(
  '--primary-ip-version',
  'primary_ip_version',
  'string',
  'version of IP that nodes and the cluster are reached by',
  {
    default: 4,
    metavar: '4|6',
  },
)
export const oRapiCertificate = value('--rapi-certificate', 'rapi_cert', 'string', 'file with the new RAPI certificate')
export const oRemoveUids = value('--remove-uids', 'remove_uids', 'string', 'UIDs or ranges to drop from the pool')
export const oReservedLvs = parameter(OpClusterSetParams, 'reserved_lvs', {
  help: 'volumes verify ignores, comma list of regexes',
})
export const oResume = flag('--resume', 'resume', 'continue an interrupted upgrade')
const oSharedFileStorageDir = parameter(OpClusterSetParams, 'shared_file_storage_dir', { metavar: 'SHAREDDIR' })
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
export const oSshKeyBits = parameter(OpClusterRenewCrypto, 'ssh_key_bits', { help: 'ssh key length' })
export const oSshKeyType = parameter(OpClusterRenewCrypto, 'ssh_key_type', { help: 'ssh key type' })
export const oToVersion = value('--to', 'to', 'string', 'version to go to')
const oUidPool = value('--uid-pool', 'uid_pool', 'string', 'UIDs and ranges')
const oUseExternalMipScript = parameter(OpClusterSetParams, 'use_external_mip_script')
export const oUseReplicationNetwork = flag(
  '--use-replication-network',
  'use_replication_network',
  'go through secondary IPs',
)
const oUserShutdown = parameter(OpClusterSetParams, 'enabled_user_shutdown', {
  long: '--user-shutdown',
  metavar: 'ENABLED_USER_SHUTDOWN',
  help: 'allow shutdown from inside',
})
export const oVerifySshClutter = parameter(OpClusterVerify, 'verify_clutter', { long: '--verify-ssh-clutter' })
const oMaintenanceInterval = parameter(OpClusterSetParams, 'maint_round_delay', {
  long: '--maintenance-interval',
  metavar: 'SECONDS',
  own: true,
})
const oAutoBalance = parameter(OpClusterSetParams, 'maint_balance', {
  long: '--auto-balance-cluster',
  own: true,
})
const oAutoBalanceThreshold = parameter(OpClusterSetParams, 'maint_balance_threshold', {
  long: '--auto-balance-threshold',
  own: true,
})
const oDiagnoseFile = parameter(OpClusterSetParams, 'diagnose_data_collector_filename', {
  long: '--diagnose-data-collector-filename',
  metavar: 'NAME',
  own: true,
})
export const oNewGlusterDir = parameter(OpClusterSetParams, 'gluster_storage_dir', { own: true })
/** Under the names of an older version of Ganeti. */
export const MAINTENANCE_OPTIONS = [oMaintenanceInterval, oAutoBalance, oAutoBalanceThreshold, oDiagnoseFile]
const oVgName = parameter(OpClusterSetParams, 'vg_name', { metavar: 'VG' })
export const oYesDoIt = flag(['--yes-do-it', '--ya-rly'], 'yes_do_it', 'confirm destruction')
export const oYesDoItDrained = flag('--yes-do-it', 'yes_do_it', 'work even if the queue is drained')
const oZeroingImage = parameter(OpClusterSetParams, 'zeroing_image')

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
/** The wait before daemons are stopped. */
export const oAwaitJobs = value(
  '--timeout',
  'timeout',
  'int',
  'seconds for which jobs that are under way are waited for',
  {
    own: true,
    metavar: 'SECONDS',
    default: AWAITS_JOBS_S,
  },
)
