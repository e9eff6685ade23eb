// Opcodes on nodes and their storage.
import { listOf, tuple } from '../lib/shapes/containers'
import { any, bool, float, int, nonEmpty, none, object, text } from '../lib/shapes/leaves'
import {
  pAllowRuntimeChanges,
  pDiskState,
  pEarlyRelease,
  pForce,
  pHvState,
  pIallocator,
  pIgnoreConsistency,
  pIgnoreIpolicy,
  pLive,
  pMasterCapable,
  pNdparams,
  pNodeName,
  pNodeUuid,
  pNodeUuids,
  pNodes,
  pOutputFields,
  pRemoteNode,
  pRemoteNodeUuid,
  pSecondaryIp,
  pStorageType,
  pStorageUnit,
  pTargetNode,
  pTargetNodeUuid,
  pUseLocking,
  pVmCapable,
} from './common'
import { maybe, naming, newName, opcode, opt, req } from './opcode'
import { evacMode, jobList, maybeText, migrationMode, oobCommand, queryResultCode, storageType } from './types'

export const OpOobCommand = opcode('OP_OOB_COMMAND', {
  doc: 'Runs the out-of-band helper for nodes; rows of [[status,node],[status,data]].',
  permission: 'nodes.oob',
  result: listOf(listOf(tuple(queryResultCode, any))),
  params: {
    node_names: naming('node', opt(listOf(nonEmpty), [], 'Node names')),
    node_uuids: pNodeUuids,
    command: req(oobCommand, 'Power-on, power-off, power-cycle, power-status or health'),
    timeout: opt(int, 60, 'Seconds'),
    ignore_status: opt(bool, false, 'Power even if not marked offline'),
    power_delay: opt(float, 2, 'Seconds between power-ons'),
  },
})

export const OpRestrictedCommand = opcode('OP_RESTRICTED_COMMAND', {
  doc: 'Runs a whitelisted command on nodes; one [ok, output] per node.',
  permission: 'nodes.restricted_command',
  result: listOf(tuple(bool, text)),
  params: {
    use_locking: pUseLocking,
    nodes: naming('node', req(listOf(nonEmpty), 'Target nodes, at least one')),
    node_uuids: pNodeUuids,
    command: req(nonEmpty, 'Command name'),
  },
})

export const OpRepairCommand = opcode('OP_REPAIR_COMMAND', {
  doc: 'Runs a whitelisted repair command on a node; its output.',
  permission: 'nodes.repair_command',
  summary: 'command',
  result: text,
  params: {
    node_name: pNodeName,
    command: req(nonEmpty, 'Command name'),
    input: maybe(nonEmpty, 'What the command reads from its standard input'),
  },
})

export const OpNodeRemove = opcode('OP_NODE_REMOVE', {
  doc: 'Drops an empty node.',
  permission: 'nodes.remove',
  summary: 'node_name',
  result: none,
  params: {
    node_name: pNodeName,
    node_uuid: pNodeUuid,
  },
})

export const OpNodeAdd = opcode('OP_NODE_ADD', {
  doc: 'Adds or re-adds a node.',
  permission: 'nodes.add',
  summary: 'node_name',
  result: none,
  params: {
    node_name: newName('node', pNodeName),
    hv_state: pHvState,
    disk_state: pDiskState,
    primary_ip: maybe(nonEmpty, 'Primary IP'),
    secondary_ip: pSecondaryIp,
    readd: opt(bool, false, 'Add a known node again'),
    group: naming('group', maybe(nonEmpty, 'Group for the new node')),
    master_capable: pMasterCapable,
    vm_capable: pVmCapable,
    ndparams: pNdparams,
    node_setup: opt(bool, false, 'Do the SSH setup as part of the add'),
  },
})

export const OpNodeQueryvols = opcode('OP_NODE_QUERYVOLS', {
  doc: 'Lists logical volumes per node.',
  permission: 'nodes.storage.query',
  result: listOf(any),
  params: {
    output_fields: pOutputFields,
    nodes: pNodes,
  },
})

export const OpNodeQueryStorage = opcode('OP_NODE_QUERY_STORAGE', {
  doc: 'Lists storage units per node.',
  permission: 'nodes.storage.query',
  result: listOf(listOf(any)),
  params: {
    output_fields: pOutputFields,
    storage_type: maybe(storageType, 'Storage type'),
    nodes: pNodes,
    name: maybe(nonEmpty, 'Unit name'),
  },
})

export const OpNodeModifyStorage = opcode('OP_NODE_MODIFY_STORAGE', {
  doc: 'Changes a storage unit (only lvm-pv "allocatable").',
  permission: 'nodes.storage.modify',
  summary: 'node_name',
  result: none,
  params: {
    node_name: pNodeName,
    node_uuid: pNodeUuid,
    storage_type: pStorageType,
    name: pStorageUnit,
    changes: req(object, 'Storage attributes to set'),
  },
})

export const OpRepairNodeStorage = opcode('OP_REPAIR_NODE_STORAGE', {
  doc: 'Runs the storage "fix-consistency" action (lvm-vg).',
  permission: 'nodes.storage.repair',
  summary: 'node_name',
  result: none,
  params: {
    node_name: pNodeName,
    node_uuid: pNodeUuid,
    storage_type: pStorageType,
    name: pStorageUnit,
    ignore_consistency: pIgnoreConsistency,
  },
})

export const OpNodeSetParams = opcode('OP_NODE_SET_PARAMS', {
  doc: 'Changes node flags or parameters; returns [parameter, new value] pairs.',
  permission: 'nodes.modify',
  summary: 'node_name',
  result: listOf(tuple(nonEmpty, any)),
  params: {
    node_name: pNodeName,
    node_uuid: pNodeUuid,
    force: pForce,
    hv_state: pHvState,
    disk_state: pDiskState,
    master_candidate: maybe(bool, 'Candidate flag'),
    offline: maybe(bool, 'Offline flag'),
    drained: maybe(bool, 'Drain flag'),
    auto_promote: opt(bool, false, 'Promote other nodes to keep the candidate pool full'),
    master_capable: pMasterCapable,
    vm_capable: pVmCapable,
    secondary_ip: pSecondaryIp,
    ndparams: pNdparams,
    powered: maybe(bool, 'Power state flag'),
  },
})

export const OpNodePowercycle = opcode('OP_NODE_POWERCYCLE', {
  doc: 'Hard reboots a node via its hypervisor.',
  permission: 'nodes.powercycle',
  summary: 'node_name',
  result: maybeText,
  params: {
    node_name: pNodeName,
    node_uuid: pNodeUuid,
    force: pForce,
  },
})

export const OpNodeMigrate = opcode('OP_NODE_MIGRATE', {
  doc: 'Submits migration jobs for all primaries of a node.',
  permission: 'nodes.migrate',
  forOthers: true,
  summary: 'node_name',
  result: jobList,
  params: {
    node_name: pNodeName,
    node_uuid: pNodeUuid,
    mode: maybe(migrationMode, 'Mode'),
    live: pLive,
    target_node: pTargetNode,
    target_node_uuid: pTargetNodeUuid,
    allow_runtime_changes: pAllowRuntimeChanges,
    ignore_ipolicy: pIgnoreIpolicy,
    iallocator: pIallocator,
  },
})

export const OpNodeEvacuate = opcode('OP_NODE_EVACUATE', {
  doc: 'Submits jobs that move instances off a node.',
  permission: 'nodes.evacuate',
  forOthers: true,
  summary: 'node_name',
  result: jobList,
  params: {
    early_release: pEarlyRelease,
    node_name: pNodeName,
    node_uuid: pNodeUuid,
    remote_node: pRemoteNode,
    remote_node_uuid: pRemoteNodeUuid,
    iallocator: pIallocator,
    mode: req(evacMode, 'Which instances: primary-only, secondary-only, all'),
    ignore_soft_errors: maybe(bool, 'Allocator may break N+1'),
  },
})
