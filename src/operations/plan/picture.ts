// The cluster for the allocation, outside of a job: asks nodes, and locks nothing.
import type { AllocOptions } from '../../allocation/model/options'
import type { ClusterData } from '../../allocation/model/cluster-data'
import { clusterDataOf } from '../../allocation/sources/from-config'
import type { ConfigData } from '../../model/config'
import type { NodeClient } from '../../rpc/node/client'
import { optionsOf } from '../instance/placement/allocator'
import { liveNodes } from '../instance/placement/live-nodes'
import type { DiskTemplate } from '../../model/templates'

/** `template`: the template whose storage is counted. */
export async function clusterPicture(
  client: NodeClient,
  config: ConfigData,
  template: DiskTemplate,
): Promise<{ data: ClusterData; options: AllocOptions }> {
  const many = client.all.bind(client)
  const data = await clusterDataOf(config, await liveNodes({ many }, config, template), template)
  return { data, options: optionsOf(config.cluster) }
}
