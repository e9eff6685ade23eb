// The names of the programs, which are those of package.json.
import manifest from '../../package.json'
import { PATH } from '../../src/model/constants/paths'

/** Programs of allocation, which also run where no node is. */
export const HTOOLS = [
  'harep',
  'hbal',
  'hcheck',
  'hinfo',
  'hroller',
  'hscan',
  'hspace',
  'hsqueeze',
  'hail',
  'mon-collector',
]
/** Taking over a cluster of Ganeti: it has a package of its own, which is installed beside Ganeti's. */
export const ADOPT = 'gantry-adopt'
/** Those of the command line. */
export const COMMANDS = Object.entries(manifest.bin)
  .filter(([name, file]) => file === 'bin/gnt.js' && name !== ADOPT)
  .map(([name]) => name)
/** Where Ganeti has those that people do not call by their names alone. */
export const TOOLS_PLACES: Readonly<Record<string, string>> = {
  'move-instance': `${PATH.TOOLSDIR}/move-instance`,
  cfgupgrade: PATH.CFGUPGRADE,
}
