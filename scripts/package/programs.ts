// The names of the programs, which are those of package.json.
import manifest from '../../package.json'

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
/** Those of the command line, of which one has another place. */
export const COMMANDS = Object.entries(manifest.bin)
  .filter(([name, file]) => file === 'bin/gnt.js' && name !== ADOPT)
  .map(([name]) => name)
