// How noded starts and stops its node's daemons when `gantryd node` is not their parent. When the machine starts, the
// conditions of the units, or daemon-util, decide what the node has; this handles a node whose place changes while it runs.
import type { NodeDaemons } from '../../bootstrap/node-daemons'
import { Mutex } from '../../lib/work/mutex'
import type { Files } from '../../lib/files'
import type { DaemonControl } from '../../node/context'
import { isDaemonOfNode, type Role } from '../../roles/role'
import { type EndOptions, endMaster } from './end-master'
import { isFor, roleToEnsure } from './place'

export interface SystemDaemonsOptions extends EndOptions {
  readonly files: Files
  readonly roles: readonly Role[]
  readonly units: NodeDaemons
}

export function systemDaemons(options: SystemDaemonsOptions): DaemonControl {
  const { units, log } = options
  const roles = options.roles.filter(isDaemonOfNode)
  const turns = new Mutex()
  const stopMaster = () => endMaster(options, () => units.stopMaster())
  return {
    startMaster: (noVoting) => turns.runExclusive(() => units.startMaster(noVoting)),
    stopMaster: () => turns.runExclusive(stopMaster),
    yieldMaster: () =>
      turns.runExclusive(async () => {
        if (!(await units.isMaster())) return true
        await stopMaster()
        // If two nodes both believe they are the master, the one that does not win the votes again gives way.
        return units.startMaster(false).then(
          () => false,
          (error: unknown) => {
            log.warn({ err: error }, 'this node is not the master now')
            return true
          },
        )
      }),
    async ensure(daemon, run) {
      if (roleToEnsure(roles, daemon, run) === undefined) return true
      if (daemon === 'ganeti-noded') throw new Error(`${daemon} cannot start or stop itself`)
      await turns.runExclusive(() => (run ? units.start(daemon) : units.stop(daemon)))
      return true
    },
    settle: () => turns.runExclusive(() => units.settle((role) => isFor(role, options))),
    leave: () =>
      void units.stopAllLater().catch((error: unknown) => log.error({ err: error }, 'the daemons cannot be stopped')),
  }
}
