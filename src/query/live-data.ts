// The data of nodes for queries.
import type { ConfigData } from '../model/config'
import type { NodeUuid } from '../model/ids'
import type { Instance } from '../model/instance'
import type { Node } from '../model/node'
import type { NodeResult } from '../rpc/node/client'
import type { ConsoleInfo, InstanceRuntime, NodeInfo, OsDiagnosis } from '../rpc/node/dicts'

export type LiveResults<T> = ReadonlyMap<NodeUuid, NodeResult<T>>
export type ExtStorageDiagnosis = readonly [
  name: string,
  path: string,
  ok: boolean,
  message: string,
  parameters: readonly (readonly [name: string, description: string])[],
]

/**
 * Questions of query fields to running nodes. The engine asks only for data that a field or filter needs, once per
 * query. services/live-data/live-data.ts answers through the node client, tests from recordings. Every method answers
 * for exactly the given nodes; a node marked offline is not contacted.
 */
export interface LiveData {
  /** Asks about the default hypervisor and the default storage unit (`storageUnits`). */
  nodeInfo(config: ConfigData, nodes: readonly Node[]): Promise<LiveResults<NodeInfo>>
  /** Running instances by name, of all enabled hypervisors. */
  instanceInfo(config: ConfigData, nodes: readonly Node[]): Promise<LiveResults<Record<string, InstanceRuntime>>>
  /** Consoles by instance name; each primary node is asked once for all its instances. */
  consoles(config: ConfigData, instances: readonly Instance[]): Promise<LiveResults<Record<string, ConsoleInfo>>>
  exports(nodes: readonly Node[]): Promise<LiveResults<readonly string[]>>
  operatingSystems(nodes: readonly Node[]): Promise<LiveResults<readonly OsDiagnosis[]>>
  extStorage(nodes: readonly Node[]): Promise<LiveResults<readonly ExtStorageDiagnosis[]>>
}
