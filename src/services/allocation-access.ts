// Access to the allocation for the master: to the current cluster, and to threads.
import type { AllocOptions } from '../allocation/model/options'
import type { ClusterData } from '../allocation/model/cluster-data'
import type { TaskParts } from '../lib/work/worker-pool'
import type { ConfigData } from '../model/config'
import type { DiskTemplate } from '../model/templates'
import type { NodeClient } from '../rpc/node/client'

/** Everything that the allocation needs from outside. */
export interface AllocationAccess {
  /** The cluster as it is now. `template`: the storage whose space is counted. */
  picture(
    nodes: NodeClient,
    config: ConfigData,
    template: DiskTemplate,
  ): Promise<{ data: ClusterData; options: AllocOptions }>
  /** Computes in a thread. */
  run(parts: TaskParts, signal?: AbortSignal): Promise<unknown>
}
