// The table of gnt-os: its commands, and the function that runs each.
import { type Tool, many, one } from '../command'
import { areAllValid, diagnoseOses, listOses, modifyOs, osData, showOses, usableData } from './commands'
import {
  JOB_OPTIONS,
  oHypervisorParameters,
  oNoHeaders,
  oOsParameters,
  oOsParametersPrivate,
  oPriority,
} from '../input/options'
import { oBlacklisted, oHidden } from './options'

export const osTool: Tool = {
  name: 'gnt-os',
  commands: [
    {
      name: 'list',
      help: 'list usable OSes',
      usage: '',
      args: [],
      options: [oNoHeaders, oPriority],
      run: listOses,
      data: usableData,
    },
    {
      name: 'diagnose',
      help: 'OS state per node',
      usage: '',
      args: [],
      options: [oPriority],
      run: diagnoseOses,
      data: osData,
      isGood: areAllValid,
    },
    {
      name: 'info',
      aliases: ['show'],
      help: 'show OS details',
      usage: '',
      args: [many('OS or provider name')],
      options: [oPriority],
      run: showOses,
      data: osData,
    },
    {
      name: 'modify',
      help: 'change OS settings',
      usage: '',
      args: [one('OS or provider name')],
      options: [oHypervisorParameters, oOsParameters, oOsParametersPrivate, oHidden, oBlacklisted, ...JOB_OPTIONS],
      run: modifyOs,
    },
  ],
}
