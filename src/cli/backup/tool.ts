// The table of gnt-backup: its commands, and the function that runs each.
import { type Tool, many, one } from '../command'
import { exportInstance, removeExport } from './commands'
import { importInstance } from '../instance/add'
import { listFieldsCommand } from '../output/list'
import { listExports } from '../output/lists'
import {
  CREATE_OPTIONS,
  JOB_OPTIONS,
  LIST_OPTIONS,
  oCompress,
  oForce,
  oNoHeaders,
  oNode,
  oSeparator,
  oShutdownTimeout,
  oUnits,
} from '../input/options'
import {
  oExportNode,
  oIdentifyDefaults,
  oIgnoreRemoveFailures,
  oLongSleep,
  oNoshutdown,
  oRemoveInstance,
  oSrcDir,
  oSrcNode,
  oStart,
  oTransportCompression,
  oZeroFreeSpace,
  oZeroingTimeoutFixed,
  oZeroingTimeoutPerMib,
} from './options'

export const backupTool: Tool = {
  name: 'gnt-backup',
  commands: [
    {
      name: 'list',
      help: 'list exports; default columns: node, export',
      usage: '',
      args: [],
      options: [oNode, ...LIST_OPTIONS, oUnits],
      ...listExports,
    },
    {
      name: 'list-fields',
      help: 'list export fields',
      usage: '[fields...]',
      args: [many('free text')],
      options: [oNoHeaders, oSeparator],
      ...listFieldsCommand('export'),
    },
    {
      name: 'export',
      help: 'export an instance',
      usage: '-n <node-name> [opts...] <instance-name>',
      args: [one('instance name')],
      options: [
        oForce,
        oExportNode,
        oTransportCompression,
        oNoshutdown,
        oShutdownTimeout,
        oRemoveInstance,
        oIgnoreRemoveFailures,
        oZeroFreeSpace,
        oZeroingTimeoutFixed,
        oZeroingTimeoutPerMib,
        oLongSleep,
        ...JOB_OPTIONS,
      ],
      run: exportInstance,
    },
    {
      name: 'import',
      help: 'create an instance from an export',
      usage: '[...] -t disk-type -n node[:secondary-node] <instance-name>',
      args: [one('instance name')],
      options: [...CREATE_OPTIONS, ...JOB_OPTIONS, oIdentifyDefaults, oStart, oSrcDir, oSrcNode, oCompress],
      run: importInstance,
    },
    {
      name: 'remove',
      help: 'delete exports of a name',
      usage: '<instance-name>',
      args: [one('free text')],
      options: [...JOB_OPTIONS],
      run: removeExport,
    },
  ],
}
