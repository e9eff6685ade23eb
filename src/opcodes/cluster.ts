// Opcodes on the cluster as a whole.
import { ALLOCATOR_KINDS } from '../model/allocators'
import { dictOf, listOf, orNull, setOf, tuple } from '../lib/shapes/containers'
import { any, bool, float, int, nonEmpty, nonNegative, none, object, positive, text } from '../lib/shapes/leaves'
import { partialOf } from '../lib/shapes/objects'
import { hidden, refine } from '../lib/shapes/shape'
import {
  pDebugSimulateErrors,
  pDiskState,
  pDiskparams,
  pErrorCodes,
  pForce,
  pGroupName,
  pHvState,
  pIgnoreErrors,
  pIpolicy,
  pIsStrict,
  pMacPrefix,
  pNdparams,
  pOptionalGroupName,
  pOutputFields,
  pSkipChecks,
  pVerbose,
  pVerifyClutter,
} from './common'
import { maybe, naming, newName, opcode, opt, req } from './opcode'
import { ddmSimple, diskTemplate, hypervisor, jobList, nicParams, sshKeyType } from './types'

export const OpClusterPostInit = opcode('OP_CLUSTER_POST_INIT', {
  doc: 'Runs the post-init hooks once a new cluster exists.',
  permission: 'cluster.post_init',
  result: bool,
  params: {},
})

export const OpClusterDestroy = opcode('OP_CLUSTER_DESTROY', {
  doc: 'Tears the cluster down; irreversible. Returns the old master name.',
  permission: 'cluster.destroy',
  result: nonEmpty,
  params: {},
})

export const OpClusterQuery = opcode('OP_CLUSTER_QUERY', {
  doc: 'Returns the cluster info dictionary.',
  permission: 'cluster.info',
  result: object,
  params: {},
})

export const OpClusterVerify = opcode('OP_CLUSTER_VERIFY', {
  doc: 'Fans out into verify-config plus one verify-group job per group.',
  permission: 'cluster.verify',
  result: jobList,
  params: {
    debug_simulate_errors: pDebugSimulateErrors,
    error_codes: pErrorCodes,
    skip_checks: pSkipChecks,
    ignore_errors: pIgnoreErrors,
    verbose: pVerbose,
    group_name: naming('group', maybe(nonEmpty, 'Restrict to one group')),
    verify_clutter: pVerifyClutter,
  },
})

export const OpClusterVerifyConfig = opcode('OP_CLUSTER_VERIFY_CONFIG', {
  doc: 'Checks config consistency only.',
  permission: 'cluster.verify_config',
  result: bool,
  params: {
    debug_simulate_errors: pDebugSimulateErrors,
    error_codes: pErrorCodes,
    ignore_errors: pIgnoreErrors,
    verbose: pVerbose,
  },
})

export const OpClusterVerifyGroup = opcode('OP_CLUSTER_VERIFY_GROUP', {
  doc: 'Checks every node and instance of one group.',
  permission: 'cluster.verify_group',
  summary: 'group_name',
  result: bool,
  params: {
    group_name: pGroupName,
    debug_simulate_errors: pDebugSimulateErrors,
    error_codes: pErrorCodes,
    skip_checks: pSkipChecks,
    ignore_errors: pIgnoreErrors,
    verbose: pVerbose,
    verify_clutter: pVerifyClutter,
  },
})

export const OpClusterVerifyDisks = opcode('OP_CLUSTER_VERIFY_DISKS', {
  doc: 'Submits a disk check job per node group.',
  permission: 'cluster.verify_disks',
  result: jobList,
  params: {
    group_name: pOptionalGroupName,
    is_strict: pIsStrict,
  },
})

export const OpClusterRepairDiskSizes = opcode('OP_CLUSTER_REPAIR_DISK_SIZES', {
  doc: 'Syncs recorded disk sizes with reality; returns [instance, disk index, "size"|"spindles", new value] rows.',
  permission: 'cluster.repair_disk_sizes',
  result: listOf(tuple(nonEmpty, nonNegative(int), nonEmpty, nonNegative(int))),
  params: {
    instances: naming('instance', opt(listOf(nonEmpty), [], 'Instances')),
  },
})

export const OpClusterConfigQuery = opcode('OP_CLUSTER_CONFIG_QUERY', {
  doc: 'Returns selected cluster config values, in field order.',
  permission: 'cluster.info',
  result: listOf(any),
  params: {
    output_fields: pOutputFields,
  },
})

export const OpClusterRename = opcode('OP_CLUSTER_RENAME', {
  doc: 'Changes cluster name (and its IP).',
  permission: 'cluster.rename',
  summary: 'name',
  result: nonEmpty,
  params: {
    name: newName('cluster', req(nonEmpty, 'Name')),
  },
})

/** Programs are searched in only one folder. */
const programName = refine(
  text,
  { pattern: '^([a-zA-Z0-9_][a-zA-Z0-9_.-]*)?$' },
  (name) => /^([a-zA-Z0-9_][a-zA-Z0-9_.-]*)?$/.test(name),
  (name) => `${JSON.stringify(name)} is not the name of a file in node-diagnose-commands`,
)

export const OpClusterSetParams = opcode('OP_CLUSTER_SET_PARAMS', {
  doc: 'Modifies cluster-wide settings; may return extra jobs.',
  permission: 'cluster.modify',
  result: orNull(jobList),
  params: {
    force: pForce,
    hv_state: pHvState,
    disk_state: pDiskState,
    vg_name: maybe(text, 'Volume group, empty disables LVM'),
    enabled_hypervisors: maybe(listOf(hypervisor), 'Permitted hypervisors, first is default'),
    hvparams: maybe(dictOf(object), 'Hypervisor parameters'),
    beparams: maybe(object, 'Backend parameters'),
    os_hvp: maybe(dictOf(object), '{os: {hypervisor: parameters}}'),
    osparams: maybe(dictOf(object), 'OS parameters'),
    osparams_private_cluster: maybe(hidden(dictOf(object)), 'Private OS parameters per OS'),
    diskparams: pDiskparams,
    candidate_pool_size: maybe(positive(int), 'Wanted number of master candidates'),
    max_running_jobs: maybe(positive(int), 'Limit of running jobs'),
    max_tracked_jobs: maybe(positive(int), 'Limit of tracked jobs'),
    uid_pool: maybe(listOf(tuple(int, int)), 'UID ranges [low, high]'),
    add_uids: maybe(listOf(tuple(int, int)), 'UID ranges [low, high] to add'),
    remove_uids: maybe(listOf(tuple(int, int)), 'UID ranges [low, high] to drop'),
    maintain_node_health: maybe(bool, 'Watcher stops unknown instances and DRBD'),
    prealloc_wipe_disks: maybe(bool, 'Wipe new disks'),
    nicparams: maybe(nicParams, 'Default NIC parameters'),
    ndparams: pNdparams,
    ipolicy: pIpolicy,
    drbd_helper: maybe(text, 'DRBD helper program'),
    default_iallocator: maybe(text, 'Default allocator'),
    default_iallocator_params: maybe(object, 'Default allocator parameters'),
    default_iallocators: maybe(
      partialOf(Object.fromEntries(ALLOCATOR_KINDS.map((kind) => [kind, setOf(nonEmpty)])), { others: 'refused' }),
      'The allocators of each kind of question, asked in order until one finds something; empty for the default one',
    ),
    mac_prefix: pMacPrefix,
    master_netdev: maybe(text, 'Interface of the master IP'),
    master_netmask: maybe(nonNegative(int), 'Prefix length of the master IP'),
    reserved_lvs: maybe(listOf(nonEmpty), 'LV name patterns verify must ignore'),
    hidden_os: maybe(listOf(tuple(ddmSimple, nonEmpty)), '[[add|remove, OS], ...] for the hidden list'),
    blacklisted_os: maybe(listOf(tuple(ddmSimple, nonEmpty)), '[[add|remove, OS], ...] for the blacklist'),
    use_external_mip_script: maybe(bool, 'Use the local master IP script'),
    enabled_disk_templates: maybe(listOf(diskTemplate), 'Permitted disk templates'),
    modify_etc_hosts: maybe(bool, 'Maintain /etc/hosts'),
    file_storage_dir: maybe(text, 'File storage directory'),
    shared_file_storage_dir: maybe(text, 'Shared file storage directory'),
    gluster_storage_dir: maybe(text, 'Gluster mount directory'),
    install_image: maybe(text, 'Image for safe OS scripts'),
    instance_communication_network: maybe(text, 'Network for instance communication'),
    zeroing_image: maybe(text, 'Image used for zeroing'),
    compression_tools: maybe(listOf(nonEmpty), 'Allowed compression tools'),
    enabled_user_shutdown: maybe(bool, 'Let guests shut themselves down for good'),
    enabled_data_collectors: maybe(dictOf(bool), '{collector: bool}'),
    data_collector_interval: maybe(dictOf(int), '{collector: microseconds}'),
    maint_round_delay: maybe(positive(int), 'Seconds until maintenance looks again when nothing was to be done'),
    maint_balance: maybe(bool, 'Balance the cluster between repairs'),
    maint_balance_threshold: maybe(positive(float), 'The least gain that is worth a move of balancing'),
    maint_balance_load: maybe(bool, 'Balance by the load that the nodes measure'),
    maint_balance_disks: maybe(bool, 'Balancing may give mirrors other nodes, which copies disks'),
    maint_evacuation: maybe(bool, 'Drain and empty nodes whose self-diagnosis asks for it'),
    maint_evacuation_disks: maybe(bool, 'Evacuations give mirrors other nodes, which copies disks'),
    maint_evacuation_copies: maybe(positive(int), 'Instances whose disks evacuations copy at the same time'),
    maint_evacuation_offline: maybe(bool, 'Nodes go offline when an evacuation has emptied them'),
    maint_live_repair: maybe(bool, 'Run the repair commands that self-diagnoses name'),
    maint_harep: maybe(bool, 'Repair instances as harep does, where their tags allow it'),
    maint_restart: maybe(bool, 'Start instances that have ended by themselves, and activate disks, within seconds'),
    maint_dry_run: maybe(bool, 'Only show what maintenance would do'),
    diagnose_data_collector_filename: maybe(
      programName,
      'The program in node-diagnose-commands that reports the health of a node; empty for none',
    ),
  },
})

export const OpClusterRedistConf = opcode('OP_CLUSTER_REDIST_CONF', {
  doc: 'Pushes config and ancillary files to all nodes again.',
  permission: 'cluster.redistribute_config',
  result: none,
  params: {},
})

export const OpClusterActivateMasterIp = opcode('OP_CLUSTER_ACTIVATE_MASTER_IP', {
  doc: 'Brings the master IP up.',
  permission: 'cluster.activate_master_ip',
  result: none,
  params: {},
})

export const OpClusterDeactivateMasterIp = opcode('OP_CLUSTER_DEACTIVATE_MASTER_IP', {
  doc: 'Takes the master IP down.',
  permission: 'cluster.deactivate_master_ip',
  result: none,
  params: {},
})

export const OpClusterRenewCrypto = opcode('OP_CLUSTER_RENEW_CRYPTO', {
  doc: 'Renews the cluster certificate, node client certificates and/or SSH keys.',
  permission: 'cluster.renew_crypto',
  result: none,
  params: {
    cluster_certificate: maybe(bool, 'Renew the cluster certificate, and node certificates with it'),
    node_certificates: opt(bool, false, 'Renew node certificates'),
    renew_ssh_keys: opt(bool, false, 'Renew SSH keys'),
    ssh_key_type: maybe(sshKeyType, 'SSH key type'),
    ssh_key_bits: maybe(positive(int), 'SSH key length'),
    verbose: pVerbose,
    debug: opt(bool, false, 'Debug output'),
  },
})
