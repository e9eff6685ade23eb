// The names of the programs, from package.json.
import manifest from '../../package.json'
import { PATH } from '../../src/model/constants/paths'

/** The allocation programs, which also run on machines without a node. */
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
/** Takes over a cluster of Ganeti. It has its own package, which is installed beside Ganeti's. */
export const ADOPT = 'gantry-adopt'
/** Timers of systemd start them. */
export const WATCHERS = ['ganeti-watcher', 'ganeti-cleaner'] as const
/** The commands of the command line. */
export const COMMANDS = Object.entries(manifest.bin)
  .filter(([name, file]) => file === 'bin/gnt.js' && name !== ADOPT)
  .map(([name]) => name)
/** Ganeti's places for programs that people do not call by name. */
export const TOOLS_PLACES: Readonly<Record<string, string>> = {
  'move-instance': `${PATH.TOOLSDIR}/move-instance`,
  cfgupgrade: PATH.CFGUPGRADE,
}
