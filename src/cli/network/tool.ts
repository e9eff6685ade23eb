// The table of gnt-network: its commands, and the function that runs each.
import { type Tool, many, one, verbatim } from '../command'
import { infoData } from '../output/data'
import { listFieldsCommand } from '../output/list'
import { listNetworks } from '../output/lists'
import { addNetwork, connectNetwork, disconnectNetwork, modifyNetwork, removeNetwork, renameNetwork } from './changes'
import { showNetworks } from './info'
import { addTags, listTags, removeTags } from '../tags'
import {
  JOB_OPTIONS,
  LIST_OPTIONS,
  SUBMIT_OPTIONS,
  oForce,
  oFrom,
  oNoConflictsCheck,
  oNoHeaders,
  oPriority,
  oSeparator,
  oTags,
} from '../input/options'
import {
  oAddReservedIps,
  oConnectionParameters,
  oGateway,
  oGateway6,
  oNetwork,
  oNetwork6,
  oNetworkMacPrefix,
  oRemoveReservedIps,
} from './options'

export const networkTool: Tool = {
  name: 'gnt-network',
  commands: [
    {
      name: 'add',
      help: 'add a network',
      usage: '<network-name>',
      args: [one('network name')],
      options: [
        oNetwork,
        oGateway,
        oAddReservedIps,
        oNetworkMacPrefix,
        oNetwork6,
        oGateway6,
        oNoConflictsCheck,
        oTags,
        ...JOB_OPTIONS,
      ],
      run: addNetwork,
    },
    {
      name: 'list',
      help: 'list networks; default columns: name, network, gateway, mac_prefix, group_list, tags',
      usage: '[<network-name>...]',
      args: [many('network name')],
      options: [...LIST_OPTIONS],
      ...listNetworks,
    },
    {
      name: 'list-fields',
      help: 'list network fields',
      usage: '[<fields>...]',
      args: [many('free text')],
      options: [oNoHeaders, oSeparator],
      ...listFieldsCommand('network'),
    },
    {
      name: 'info',
      help: 'show networks',
      usage: '[<network>...]',
      args: [many('network name')],
      options: [],
      run: showNetworks,
      data: infoData('network', 'name'),
    },
    {
      name: 'modify',
      help: 'change a network',
      usage: '<network>',
      args: [one('network name')],
      options: [oAddReservedIps, ...JOB_OPTIONS, oRemoveReservedIps, oGateway, oNetworkMacPrefix, oNetwork6, oGateway6],
      run: modifyNetwork,
    },
    {
      name: 'connect',
      help: 'connect to groups',
      usage: '<network> [<group>...]',
      args: [one('network name'), many('group name')],
      options: [oNoConflictsCheck, oPriority, oConnectionParameters],
      run: connectNetwork,
    },
    {
      name: 'disconnect',
      help: 'disconnect from groups',
      usage: '<network> [<group>...]',
      args: [one('network name'), many('group name')],
      options: [oPriority],
      run: disconnectNetwork,
    },
    {
      name: 'remove',
      help: 'remove a network',
      usage: '[--dry-run] <network>',
      args: [one('network name')],
      options: [oForce, ...JOB_OPTIONS],
      run: removeNetwork,
    },
    {
      name: 'rename',
      help: 'rename a network',
      usage: '[--dry-run] <old-name> <new-name>',
      args: [{ kind: 'group name', min: 2, max: 2 }],
      options: [...JOB_OPTIONS],
      run: renameNetwork,
    },
    {
      name: 'list-tags',
      help: 'list tags',
      usage: '<network>',
      args: [one('network name')],
      options: [],
      ...listTags('network'),
    },
    {
      name: 'add-tags',
      help: 'add tags',
      usage: '<network> <tag>...',
      args: [one('network name'), verbatim('free text')],
      options: [oFrom, oPriority, ...SUBMIT_OPTIONS],
      run: addTags('network'),
    },
    {
      name: 'remove-tags',
      help: 'remove tags',
      usage: '<network> <tag>...',
      args: [one('network name'), verbatim('tag')],
      options: [oFrom, oPriority, ...SUBMIT_OPTIONS],
      run: removeTags('network'),
    },
  ],
}
