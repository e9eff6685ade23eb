// Starts the parent of a node's daemons with all that it needs.
import { Supervisor } from '../daemons/supervisor/supervisor'
import { systemClock as clock } from '../lib/clock'
import { thisMachine } from '../lib/machine'
import { ownedDisk as disk } from '../model/owners'
import { readOptions } from '../roles/options'
import { ROLES, roleNamed } from '../roles/table'
import { ensureDirectories } from './ensure-dirs'
import { PROGRAM, WATCHER } from './program'
import type { Start } from './start'

/** Messages of this process to its parent are read in src/embedded/running-cluster.ts. */
export const start: Start = async ({ paths, log, options }) => {
  await ensureDirectories(paths)
  const { files, processes } = thisMachine
  const supervisor = new Supervisor({
    ...{ paths, clock, disk, files, processes, log, program: PROGRAM, roles: ROLES },
    args: givenOptions(options.give),
    simulated: options.simulated === true,
    // Instances of a recorded cluster stay as they were recorded.
    ...(options.simulated !== true && { watcher: WATCHER }),
    noVoting: options['no-voting'] === true && options['yes-do-it'] === true,
    onEnd: (left) => {
      tell({ left })
      process.kill(process.pid, 'SIGTERM')
    },
    onNotice: (text) => tell({ notice: text }),
    onMaster: () => tell({ master: true }),
  })
  process.on('message', (message) => {
    if (message === 'stop-master') void supervisor.stopMaster().then(() => tell({ stopped: 'master' }))
  })
  await supervisor.start()
  return { close: () => supervisor.stop() }
}

/** After a start in the background, the process that started this one is gone. */
function tell(message: object): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

/** For example `rapi=--access-log=all`. Checked here, before a daemon gets it. */
function givenOptions(input: readonly string[] = []): Map<string, string[]> {
  const args = new Map<string, string[]>()
  for (const text of input) {
    const [, name = '', option = ''] = /^([^=]*)=(.*)$/s.exec(text) ?? []
    const role = roleNamed(name)
    if (role === undefined || role.place === 'system')
      throw new Error(`--give needs ROLE=OPTION, such as rapi=--access-log=all, not '${text}'`)
    readOptions(role, [option])
    args.set(name, [...(args.get(name) ?? []), option])
  }
  return args
}
