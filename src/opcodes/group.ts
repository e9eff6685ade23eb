// Opcodes on node groups.
import { listOf, orNull, tuple } from '../lib/shapes/containers'
import { any, bool, nonEmpty, none } from '../lib/shapes/leaves'
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
import { naming, newName, opcode, opt, req } from './opcode'
import { jobList, volumeReport } from './types'

export const OpGroupVerifyDisks = opcode('OP_GROUP_VERIFY_DISKS', {
  doc: 'Reports bad nodes, instances needing disk activation, missing LVs. Result triple: [node->error], [instances], {instance: [[node, volume]]}.',
  permission: 'groups.verify_disks',
  summary: 'group_name',
  result: volumeReport,
  params: {
    group_name: pGroupName,
    is_strict: pIsStrict,
  },
})

export const OpGroupAdd = opcode('OP_GROUP_ADD', {
  doc: 'Creates a node group; may return extra jobs.',
  permission: 'groups.create',
  summary: 'group_name',
  result: orNull(jobList),
  params: {
    group_name: newName('group', pGroupName),
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
  permission: 'groups.assign_nodes',
  summary: 'group_name',
  result: none,
  params: {
    group_name: pGroupName,
    force: pForce,
    nodes: naming('node', req(listOf(nonEmpty), 'Node names')),
    node_uuids: pNodeUuids,
  },
})

export const OpGroupSetParams = opcode('OP_GROUP_SET_PARAMS', {
  doc: 'Modifies a group; returns [parameter, new value] pairs.',
  permission: 'groups.modify',
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
  permission: 'groups.delete',
  summary: 'group_name',
  result: none,
  params: {
    group_name: pGroupName,
  },
})

export const OpGroupRename = opcode('OP_GROUP_RENAME', {
  doc: 'Renames a group; returns the new name.',
  permission: 'groups.rename',
  result: nonEmpty,
  params: {
    group_name: pGroupName,
    new_name: newName('group', pNewName),
  },
})

export const OpGroupEvacuate = opcode('OP_GROUP_EVACUATE', {
  doc: 'Submits jobs moving all instances out of a group.',
  permission: 'groups.evacuate',
  forOthers: true,
  summary: 'group_name',
  result: jobList,
  params: {
    group_name: pGroupName,
    early_release: pEarlyRelease,
    iallocator: pIallocator,
    target_groups: pTargetGroups,
    sequential: opt(bool, false, 'Run resulting jobs one by one'),
    force_failover: opt(bool, false, 'Fail over, never migrate'),
  },
})
