// The table of gnt-storage: its commands, and the function that runs each.
import { type Tool, many } from '../command'
import { diagnoseStorage, showStorage, storageData } from './commands'
import { oPriority } from '../input/options'

export const storageTool: Tool = {
  name: 'gnt-storage',
  commands: [
    {
      name: 'diagnose',
      help: 'provider state per node',
      usage: '',
      args: [],
      options: [oPriority],
      run: diagnoseStorage,
      data: storageData,
    },
    {
      name: 'info',
      help: 'show provider details',
      usage: '',
      args: [many('OS or provider name')],
      options: [oPriority],
      run: showStorage,
      data: storageData,
    },
  ],
}
