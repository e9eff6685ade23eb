// The table of gnt-group: its commands, and the function that runs each.
import { groupPolicies, showGroupPolicies } from '../output/policy-command'
import { type Tool, many, one, verbatim } from '../command'
import { infoData } from '../output/data'
import { addGroup, assignNodes, evacuateGroup, modifyGroup, removeGroup, renameGroup } from './changes'
import { showGroups } from './info'
import { listFieldsCommand } from '../output/list'
import { listGroups } from '../output/lists'
import { addTags, listTags, removeTags } from '../tags'
import {
  JOB_OPTIONS,
  LIST_OPTIONS,
  POLICY_OPTIONS,
  STATE_OPTIONS,
  SUBMIT_OPTIONS,
  oDiskParameters,
  oEarlyRelease,
  oFilter,
  oForce,
  oFrom,
  oIallocator,
  oNoHeaders,
  oNodeParameters,
  oPriority,
  oSeparator,
  oTo,
} from '../input/options'
import { oAllocPolicy, oForceFailover, oIncludeDefaults, oSequential } from './options'

export const groupTool: Tool = {
  name: 'gnt-group',
  commands: [
    {
      name: 'add',
      help: 'add a group',
      usage: '<group-name>',
      args: [one('group name')],
      options: [oAllocPolicy, oNodeParameters, oDiskParameters, ...STATE_OPTIONS, ...POLICY_OPTIONS, ...JOB_OPTIONS],
      run: addGroup,
    },
    {
      name: 'assign-nodes',
      help: 'move nodes into a group',
      usage: '<group-name> <node-name>...',
      args: [one('group name'), many('node name')],
      options: [oForce, ...JOB_OPTIONS],
      run: assignNodes,
    },
    {
      name: 'list',
      help: 'list groups; default columns: name, node_cnt, pinst_cnt, alloc_policy, ndparams',
      usage: '[<group-name>...]',
      args: [many('group name')],
      options: [...LIST_OPTIONS, oFilter],
      ...listGroups,
    },
    {
      name: 'list-fields',
      help: 'list group fields',
      usage: '[fields...]',
      args: [many('free text')],
      options: [oNoHeaders, oSeparator],
      ...listFieldsCommand('group'),
    },
    {
      name: 'modify',
      help: 'change a group',
      usage: '<group>',
      args: [one('group name')],
      options: [oAllocPolicy, ...JOB_OPTIONS, oNodeParameters, ...STATE_OPTIONS, oDiskParameters, ...POLICY_OPTIONS],
      run: modifyGroup,
    },
    {
      name: 'remove',
      help: 'remove an empty group',
      usage: '[--dry-run] <group>',
      args: [one('group name')],
      options: [...JOB_OPTIONS],
      run: removeGroup,
    },
    {
      name: 'rename',
      help: 'rename a group',
      usage: '[--dry-run] <old-name> <new-name>',
      args: [{ kind: 'group name', min: 2, max: 2 }],
      options: [...JOB_OPTIONS],
      run: renameGroup,
    },
    {
      name: 'evacuate',
      help: 'move all instances to other groups',
      usage: '[-I <iallocator>] [--to <group>] <source-group>',
      args: [one('group name')],
      options: [oTo, oIallocator, oEarlyRelease, oSequential, oForceFailover, ...SUBMIT_OPTIONS],
      run: evacuateGroup,
    },
    {
      name: 'list-tags',
      help: 'list tags',
      usage: '<group>',
      args: [one('group name')],
      options: [],
      ...listTags('nodegroup'),
    },
    {
      name: 'add-tags',
      help: 'add tags',
      usage: '<group> <tag>...',
      args: [one('group name'), verbatim('free text')],
      options: [oFrom, oPriority, ...SUBMIT_OPTIONS],
      run: addTags('nodegroup'),
    },
    {
      name: 'remove-tags',
      help: 'remove tags',
      usage: '<group> <tag>...',
      args: [one('group name'), verbatim('tag')],
      options: [oFrom, oPriority, ...SUBMIT_OPTIONS],
      run: removeTags('nodegroup'),
    },
    {
      name: 'info',
      help: 'show groups',
      usage: '[<group>...]',
      args: [many('group name')],
      options: [],
      run: showGroups,
      data: infoData('group', 'name'),
    },
    {
      name: 'show-ispecs-cmd',
      help: 'print options to recreate the policy',
      usage: '[--include-defaults] [<group>...]',
      args: [many('group name')],
      options: [oIncludeDefaults],
      run: showGroupPolicies,
      data: groupPolicies,
    },
  ],
}
