// Starts noded with all that it needs.
import { nodeDaemons } from '../bootstrap/plain-daemons'
import { supervisedDaemons } from '../daemons/supervisor/requests'
import { startNoded } from '../daemons/noded/noded'
import { systemClock as clock } from '../lib/clock'
import { thisMachine as machine } from '../lib/machine'
import { systemRandom as random } from '../lib/random'
import { ownedDisk as disk, ownedLockFile as lockFile } from '../model/owners'
import type { DaemonControl } from '../node/context'
import { BUNDLED_OS } from '../node/os-folders'
import { ROLES } from '../roles/table'
import { givenAddresses, listenAddress } from './own-address'
import { ownRelease, PROGRAM } from './program'
import type { Start, Surroundings } from './start'
import { userVolumesOf } from './user-volumes'

export const start: Start = async ({ paths, log, options }) => {
  const userVolumes = userVolumesOf(paths, machine.files, log)
  const release = await ownRelease(disk)
  return startNoded({
    ...{ paths, log, clock, random, disk, machine, lockFile },
    hostname: paths.hostname,
    address: givenAddresses(options)?.[0] ?? (await listenAddress(paths)),
    port: options.port,
    ...(options.maxClients !== undefined && { connections: options.maxClients }),
    daemons: await daemonsOfThisNode({ paths, log }),
    bundledOs: BUNDLED_OS,
    ...(userVolumes !== undefined && { userVolumes }),
    mirrorProgram: [process.execPath, PROGRAM, 'mirrors'],
    ...(release !== undefined && { release }),
  })
}

/**
 * The daemons that `gantryd node` runs; or, where this process goes on without a parent, systemd or daemon-util. A daemon that goes to the
 * background has a parent only until it is ready.
 */
async function daemonsOfThisNode({ paths, log }: Pick<Surroundings, 'paths' | 'log'>): Promise<DaemonControl> {
  const supervised = supervisedDaemons(process)
  const { files, processes, run } = machine
  const units = await nodeDaemons({ paths, disk, files, run, roles: ROLES })
  if (units === undefined) return supervised
  // Also ends a master's jobs, which the parent does on other nodes.
  const { systemDaemons } = await import('../daemons/supervisor/system-daemons.js')
  const own = systemDaemons({ paths, clock, disk, processes, log, files, roles: ROLES, units })
  const now = () => (process.connected ? supervised : own)
  // The files may have changed while noded was away.
  if (!process.connected)
    own
      .settle()
      .catch((error: unknown) =>
        log.error({ err: error }, 'the daemons that this node should run cannot be started or stopped'),
      )
  return {
    startMaster: (noVoting) => now().startMaster(noVoting),
    stopMaster: () => now().stopMaster(),
    yieldMaster: () => now().yieldMaster(),
    ensure: (daemon, run) => now().ensure(daemon, run),
    settle: () => now().settle(),
    leave: () => now().leave(),
  }
}
