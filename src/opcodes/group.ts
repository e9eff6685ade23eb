// Opcodes on node groups.
import { any, bool, listOf, nonEmpty, none, orNull, tuple } from './check'
import {
  pAllocPolicy,
  pDiskState,
  pDiskparams,
  pEarlyRelease,
  pForce,
  pGroupName,
  pHvState,
  pIallocator,
  pIpolicy,
  pIsStrict,
  pNdparams,
  pNewName,
  pNodeUuids,
  pTargetGroups,
} from './common'
import { opcode, opt, req } from './opcode'
import { jobList, volumeReport } from './types'

export const OpGroupVerifyDisks = opcode('OP_GROUP_VERIFY_DISKS', {
  doc: 'Reports bad nodes, instances needing disk activation, missing LVs. Result triple: [node->error], [instances], {instance: [[node, volume]]}.',
  summary: 'group_name',
  result: volumeReport,
  params: {
    group_name: pGroupName,
    is_strict: pIsStrict,
  },
})

export const OpGroupAdd = opcode('OP_GROUP_ADD', {
  doc: 'Creates a node group; may return extra jobs.',
  summary: 'group_name',
  result: orNull(jobList),
  params: {
    group_name: pGroupName,
    alloc_policy: pAllocPolicy,
    ndparams: pNdparams,
    diskparams: pDiskparams,
    hv_state: pHvState,
    disk_state: pDiskState,
    ipolicy: pIpolicy,
  },
})

export const OpGroupAssignNodes = opcode('OP_GROUP_ASSIGN_NODES', {
  doc: 'Moves nodes into a group.',
  summary: 'group_name',
  result: none,
  params: {
    group_name: pGroupName,
    force: pForce,
    nodes: req(listOf(nonEmpty), 'Node names'),
    node_uuids: pNodeUuids,
  },
})

export const OpGroupSetParams = opcode('OP_GROUP_SET_PARAMS', {
  doc: 'Modifies a group; returns [parameter, new value] pairs.',
  summary: 'group_name',
  result: listOf(tuple(nonEmpty, any)),
  params: {
    group_name: pGroupName,
    alloc_policy: pAllocPolicy,
    ndparams: pNdparams,
    diskparams: pDiskparams,
    hv_state: pHvState,
    disk_state: pDiskState,
    ipolicy: pIpolicy,
  },
})

export const OpGroupRemove = opcode('OP_GROUP_REMOVE', {
  doc: 'Deletes an empty group.',
  summary: 'group_name',
  result: none,
  params: {
    group_name: pGroupName,
  },
})

export const OpGroupRename = opcode('OP_GROUP_RENAME', {
  doc: 'Renames a group; returns the new name.',
  result: nonEmpty,
  params: {
    group_name: pGroupName,
    new_name: pNewName,
  },
})

export const OpGroupEvacuate = opcode('OP_GROUP_EVACUATE', {
  doc: 'Submits jobs moving all instances out of a group.',
  summary: 'group_name',
  result: jobList,
  params: {
    group_name: pGroupName,
    early_release: pEarlyRelease,
    iallocator: pIallocator,
    target_groups: pTargetGroups,
    sequential: opt(bool, false, 'Chain the submitted jobs'),
    force_failover: opt(bool, false, 'Never migrate, always fail over'),
  },
})
