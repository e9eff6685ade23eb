// The end of a cluster (Ganeti's bootstrap.FinalizeClusterDestroy), after the job that gave it up on its last node.
import type { Clock } from '../lib/clock'
import type { Disk } from '../lib/disk'
import type { Paths } from '../lib/paths'
import { FAILOVER_STOP_S } from '../model/limits/master'
import type { NodeClient } from '../rpc/node/client'
import { attemptCall } from './attempt'
import { voters } from './votes'

export interface DestroyOptions {
  paths: Paths
  disk: Disk
  clock: Clock
  nodes: NodeClient
}

/** Stops the daemons and removes the files of this node. Returns the failures. */
export async function forgetCluster(options: DestroyOptions): Promise<string[]> {
  const { paths } = options
  const self = (await voters(options)).find(({ name }) => name === paths.hostname)
  const stopped = await attemptCall(options, FAILOVER_STOP_S, self, 'node_stop_master', [])
  const left = await attemptCall(options, FAILOVER_STOP_S, self, 'node_leave_cluster', [true])
  return [
    ...(stopped === undefined ? [] : [`Could not disable the master role: ${stopped}`]),
    ...(left === undefined ? [] : [`Could not shutdown the node daemon and cleanup the node: ${left}`]),
  ]
}
