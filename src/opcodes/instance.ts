// Opcodes on instances.
import { dictOf, listOf, tuple } from '../lib/shapes/containers'
import { any, bool, int, nonEmpty, nonNegative, none, object, positive } from '../lib/shapes/leaves'
import { isObject } from '../lib/shapes/shape'
import {
  pAllowRuntimeChanges,
  pBeparams,
  pCleanup,
  pCompress,
  pConflictsCheck,
  pDiskTemplate,
  pEarlyRelease,
  pFileDriver,
  pFileStorageDir,
  pForce,
  pForceVariant,
  pHvparams,
  pHypervisor,
  pIallocator,
  pIgnoreConsistency,
  pIgnoreIpolicy,
  pIgnoreOfflineNodes,
  pInstanceName,
  pInstanceUuid,
  pIpCheck,
  pLive,
  pNameCheck,
  pNewName,
  pNoRemember,
  pNodeUuids,
  pNodes,
  pOpportunisticLocking,
  pOptionalGroupName,
  pOsType,
  pOsparams,
  pOsparamsPrivate,
  pOsparamsSecret,
  pPnode,
  pPnodeUuid,
  pRemoteNode,
  pRemoteNodeUuid,
  pShutdownTimeout,
  pTags,
  pTargetGroups,
  pTargetNode,
  pTargetNodeUuid,
  pUseLocking,
  pWaitForSync,
} from './common'
import { maybe, naming, newName, opcode, opcodesIn, opt, req } from './opcode'
import {
  adminStateSource,
  diskIndex,
  diskParams,
  instanceCreateMode,
  jobList,
  maybeText,
  migrationMode,
  modifications,
  multiAllocation,
  nicParams,
  rebootType,
  recreateDisks,
  replaceDisksMode,
} from './types'

export const OpInstanceCreate = opcode('OP_INSTANCE_CREATE', {
  doc: 'Creates, imports, reserves or commits an instance; returns its node names.',
  permission: 'instances.create',
  leavesRunning: 'as wanted',
  summary: 'instance_name',
  result: listOf(nonEmpty),
  params: {
    instance_name: newName('instance', pInstanceName),
    force_variant: pForceVariant,
    wait_for_sync: pWaitForSync,
    name_check: pNameCheck,
    ignore_ipolicy: pIgnoreIpolicy,
    opportunistic_locking: pOpportunisticLocking,
    beparams: pBeparams,
    disks: req(
      listOf(diskParams),
      'List of disk dicts (size, mode, name, vg, metavg, adopt, provider, spindles, access, and parameters of its template such as stripes or resync-rate)',
    ),
    disk_template: pDiskTemplate,
    group_name: pOptionalGroupName,
    file_driver: pFileDriver,
    file_storage_dir: pFileStorageDir,
    hvparams: pHvparams,
    hypervisor: pHypervisor,
    iallocator: pIallocator,
    identify_defaults: opt(bool, false, 'Keep values equal to defaults as defaults'),
    ip_check: pIpCheck,
    conflicts_check: pConflictsCheck,
    mode: req(instanceCreateMode, 'Create, import or remote-import'),
    nics: req(listOf(nicParams), 'List of NIC dicts (mac, ip, mode, link, vlan, network, name, bridge)'),
    no_install: maybe(bool, 'No OS installation, implies no start'),
    osparams: pOsparams,
    osparams_private: pOsparamsPrivate,
    osparams_secret: pOsparamsSecret,
    os_type: pOsType,
    pnode: pPnode,
    pnode_uuid: pPnodeUuid,
    snode: naming('node', maybe(nonEmpty, 'Secondary node')),
    snode_uuid: naming('node', maybe(nonEmpty, 'Secondary node UUID')),
    source_handshake: maybe(listOf(any), '[version, digest, salt] from the sending cluster'),
    source_instance_name: naming('instance', maybe(nonEmpty, 'Name on the sending cluster')),
    source_shutdown_timeout: opt(nonNegative(int), 120, 'Stop timeout at the sender'),
    source_x509_ca: maybe(nonEmpty, 'Signed sender CA, PEM'),
    src_node: naming('node', maybe(nonEmpty, 'Node holding the export')),
    src_node_uuid: naming('node', maybe(nonEmpty, 'UUID of that node')),
    src_path: maybe(nonEmpty, 'Export directory'),
    compress: pCompress,
    start: opt(bool, true, 'Start when done'),
    forthcoming: opt(bool, false, 'Reserve resources only'),
    commit: opt(bool, false, 'Turn a forthcoming instance into a real one'),
    tags: pTags,
    instance_communication: opt(bool, false, 'Instance communication on or off'),
    helper_startup_timeout: maybe(int, 'Helper VM start timeout, seconds'),
    helper_shutdown_timeout: maybe(int, 'Helper VM stop timeout, seconds'),
  },
})

export const OpInstanceMultiAlloc = opcode('OP_INSTANCE_MULTI_ALLOC', {
  doc: 'Allocates several instances with one allocator call.',
  permission: 'instances.multi_alloc',
  alsoNeeds: () => [OpInstanceCreate.permission],
  result: multiAllocation,
  params: {
    opportunistic_locking: pOpportunisticLocking,
    iallocator: pIallocator,
    instances: opcodesIn(
      OpInstanceCreate,
      opt(listOf(object), [], 'Parameters of OP_INSTANCE_CREATE for each instance'),
    ),
  },
})

export const OpInstanceReinstall = opcode('OP_INSTANCE_REINSTALL', {
  doc: 'Re-runs OS install on a stopped instance.',
  permission: 'instances.reinstall',
  leavesRunning: 'perhaps',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    force_variant: pForceVariant,
    os_type: pOsType,
    osparams: maybe(object, 'OS parameters'),
    osparams_private: pOsparamsPrivate,
    osparams_secret: pOsparamsSecret,
  },
})

export const OpInstanceRemove = opcode('OP_INSTANCE_REMOVE', {
  doc: 'Deletes instance and its disks.',
  permission: 'instances.remove',
  leavesRunning: 'perhaps',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    shutdown_timeout: pShutdownTimeout,
    ignore_failures: opt(bool, false, 'Go on despite removal errors'),
  },
})

export const OpInstanceRename = opcode('OP_INSTANCE_RENAME', {
  doc: 'Renames a stopped instance; returns the new name.',
  permission: 'instances.rename',
  leavesRunning: 'perhaps',
  result: nonEmpty,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    new_name: newName('instance', pNewName),
    name_check: pNameCheck,
    ip_check: pIpCheck,
  },
})

export const OpInstanceStartup = opcode('OP_INSTANCE_STARTUP', {
  doc: 'Starts an instance.',
  permission: 'instances.startup',
  // These parameters can make QEMU do anything on its node.
  alsoNeeds: ({ hvparams, beparams }) => ([hvparams, beparams].some(isFilled) ? [OpInstanceSetParams.permission] : []),
  leavesRunning: 'yes',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    force: pForce,
    ignore_offline_nodes: pIgnoreOfflineNodes,
    hvparams: pHvparams,
    beparams: pBeparams,
    no_remember: pNoRemember,
    startup_paused: opt(bool, false, 'Start paused'),
    shutdown_timeout: pShutdownTimeout,
  },
})

export const OpInstanceShutdown = opcode('OP_INSTANCE_SHUTDOWN', {
  doc: 'Stops an instance.',
  permission: 'instances.shutdown',
  leavesRunning: 'no',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    force: pForce,
    ignore_offline_nodes: pIgnoreOfflineNodes,
    timeout: opt(nonNegative(int), 120, 'Seconds before the guest is killed'),
    no_remember: pNoRemember,
    admin_state_source: maybe(adminStateSource, 'Who asked for the state change (admin or user)'),
  },
})

export const OpInstanceReboot = opcode('OP_INSTANCE_REBOOT', {
  doc: 'Reboots an instance.',
  permission: 'instances.reboot',
  leavesRunning: 'perhaps',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    shutdown_timeout: pShutdownTimeout,
    ignore_secondaries: opt(bool, false, 'Tolerate errors on secondaries'),
    reboot_type: req(rebootType, 'Soft, hard or full'),
  },
})

export const OpInstanceReplaceDisks = opcode('OP_INSTANCE_REPLACE_DISKS', {
  doc: 'Swaps DRBD disks or the secondary.',
  permission: 'instances.replace_disks',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    early_release: pEarlyRelease,
    ignore_ipolicy: pIgnoreIpolicy,
    mode: req(replaceDisksMode, 'Which disks are replaced'),
    disks: opt(listOf(diskIndex), [], 'Disk indices, empty = all'),
    remote_node: pRemoteNode,
    remote_node_uuid: pRemoteNodeUuid,
    iallocator: pIallocator,
  },
})

export const OpInstanceFailover = opcode('OP_INSTANCE_FAILOVER', {
  doc: 'Stops on the old primary, starts on the other node.',
  permission: 'instances.failover',
  leavesRunning: 'perhaps',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    shutdown_timeout: pShutdownTimeout,
    ignore_consistency: pIgnoreConsistency,
    target_node: pTargetNode,
    target_node_uuid: pTargetNodeUuid,
    ignore_ipolicy: pIgnoreIpolicy,
    cleanup: pCleanup,
    iallocator: pIallocator,
  },
})

export const OpInstanceMigrate = opcode('OP_INSTANCE_MIGRATE', {
  doc: 'Migrates a running instance.',
  permission: 'instances.migrate',
  alsoNeeds: ({ allow_failover }) => (allow_failover === true ? [OpInstanceFailover.permission] : []),
  leavesRunning: 'perhaps',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    mode: maybe(migrationMode, 'Live or non-live'),
    live: pLive,
    target_node: pTargetNode,
    target_node_uuid: pTargetNodeUuid,
    allow_runtime_changes: pAllowRuntimeChanges,
    ignore_ipolicy: pIgnoreIpolicy,
    cleanup: pCleanup,
    iallocator: pIallocator,
    allow_failover: opt(bool, false, 'Fail over when migration cannot be done'),
    ignore_hvversions: opt(bool, false, 'Allow differing hypervisor versions'),
  },
})

export const OpInstanceMove = opcode('OP_INSTANCE_MOVE', {
  doc: 'Copies disks of a non-mirrored instance to another node.',
  permission: 'instances.move',
  leavesRunning: 'perhaps',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    shutdown_timeout: pShutdownTimeout,
    ignore_ipolicy: pIgnoreIpolicy,
    target_node: naming('node', req(nonEmpty, 'Destination node')),
    target_node_uuid: pTargetNodeUuid,
    compress: pCompress,
    ignore_consistency: pIgnoreConsistency,
  },
})

export const OpInstanceConsole = opcode('OP_INSTANCE_CONSOLE', {
  doc: 'Returns the console description object.',
  permission: 'instances.query.console',
  summary: 'instance_name',
  result: object,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
  },
})

export const OpInstanceActivateDisks = opcode('OP_INSTANCE_ACTIVATE_DISKS', {
  doc: 'Assembles disks; rows of [node, iv_name, device path or null].',
  permission: 'instances.activate_disks',
  summary: 'instance_name',
  result: listOf(tuple(nonEmpty, nonEmpty, maybeText)),
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    ignore_size: opt(bool, false, 'Trust the device, not the recorded size'),
    wait_for_sync: opt(bool, false, 'Wait for disk sync'),
  },
})

export const OpInstanceDeactivateDisks = opcode('OP_INSTANCE_DEACTIVATE_DISKS', {
  doc: 'Shuts the block devices down.',
  permission: 'instances.deactivate_disks',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    force: pForce,
  },
})

export const OpInstanceRecreateDisks = opcode('OP_INSTANCE_RECREATE_DISKS', {
  doc: 'Builds missing disks again, optionally on other nodes.',
  permission: 'instances.recreate_disks',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    disks: opt(recreateDisks, [], '[] = all, or indices, or [[index, params], ...]'),
    nodes: pNodes,
    node_uuids: pNodeUuids,
    iallocator: pIallocator,
  },
})

export const OpInstanceQueryData = opcode('OP_INSTANCE_QUERY_DATA', {
  doc: 'Full per-instance info as used by "gnt-instance info".',
  permission: 'instances.info',
  result: dictOf(object),
  params: {
    use_locking: pUseLocking,
    instances: naming('instance', opt(listOf(nonEmpty), [], 'Instances')),
    static: opt(bool, false, 'Config data only'),
  },
})

export const OpInstanceSetParams = opcode('OP_INSTANCE_SET_PARAMS', {
  doc: 'Modifies an instance; returns [parameter, new value] pairs.',
  permission: 'instances.modify',
  summary: 'instance_name',
  result: listOf(tuple(nonEmpty, any)),
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    force: pForce,
    force_variant: pForceVariant,
    ignore_ipolicy: pIgnoreIpolicy,
    nics: opt(modifications(nicParams), [], '[[add|modify|remove, index or name, params], ...]'),
    disks: opt(modifications(diskParams), [], '[[add|attach|modify|remove|detach, index or name, params], ...]'),
    beparams: pBeparams,
    runtime_mem: maybe(positive(int), 'Balloon target in MiB'),
    hvparams: pHvparams,
    disk_template: pDiskTemplate,
    ext_params: opt(object, {}, 'Provider and parameters for a conversion to ext'),
    file_driver: pFileDriver,
    file_storage_dir: pFileStorageDir,
    pnode: pPnode,
    pnode_uuid: pPnodeUuid,
    remote_node: pRemoteNode,
    remote_node_uuid: pRemoteNodeUuid,
    iallocator: pIallocator,
    os_name: maybe(nonEmpty, 'Set another OS without reinstalling'),
    osparams: pOsparams,
    osparams_private: pOsparamsPrivate,
    wait_for_sync: pWaitForSync,
    offline: maybe(bool, 'Offline flag'),
    conflicts_check: pConflictsCheck,
    hotplug: opt(bool, true, 'Apply device changes live'),
    instance_communication: maybe(bool, 'Instance communication on or off'),
  },
  // Ganeti 3.0 has a second flag, which since 3.1 is the meaning of `hotplug`.
  fromOlder: ({ hotplug_if_possible: ifPossible, ...input }) =>
    ifPossible === undefined ? input : { ...input, hotplug: input['hotplug'] === true || ifPossible },
})

export const OpInstanceGrowDisk = opcode('OP_INSTANCE_GROW_DISK', {
  doc: 'Enlarges one disk.',
  permission: 'instances.grow_disk',
  summary: 'instance_name',
  result: none,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    wait_for_sync: pWaitForSync,
    disk: req(diskIndex, 'Disk index'),
    amount: req(nonNegative(int), 'MiB to add, or target size'),
    absolute: opt(bool, false, 'Treat amount as the final size'),
    ignore_ipolicy: pIgnoreIpolicy,
  },
})

export const OpInstanceChangeGroup = opcode('OP_INSTANCE_CHANGE_GROUP', {
  doc: 'Submits jobs moving the instance to other groups.',
  permission: 'instances.change_group',
  summary: 'instance_name',
  result: jobList,
  params: {
    instance_name: pInstanceName,
    instance_uuid: pInstanceUuid,
    early_release: pEarlyRelease,
    iallocator: pIallocator,
    target_groups: pTargetGroups,
  },
})

const isFilled = (input: unknown): boolean => isObject(input) && Object.keys(input).length > 0
