// Changes to the cluster object: parameters, ports, candidate certificates, the master.
import type { Cluster, ConfigData } from '../../model/config'
import { LAST_DRBD_PORT } from '../../model/constants/disks'
import { ConfigurationError } from '../../model/errors'
import { nodeUuid } from '../../model/ids'
import { isPortUsed } from '../lookup'
import { checkSerial, done, get, patched, put, putCluster, touched, type ChangeContext, type Changed } from '../edit'

export function updateCluster(
  config: ConfigData,
  context: ChangeContext,
  cluster: Cluster,
): Changed<[serial_no: number, mtime: number]> {
  checkSerial('cluster', cluster, config.cluster)
  const changed = touched(cluster, context)
  return { config: putCluster(config, changed), result: [changed.serial_no, changed.mtime] }
}

/** Sets some fields; null removes an optional one. */
export function patchCluster(
  config: ConfigData,
  context: ChangeContext,
  fields: Readonly<Record<string, unknown>>,
): Changed<null> {
  return done(putCluster(config, touched(patched(config.cluster, fields), context)))
}

/** A port for a console or a DRBD device: a returned one, or the next one. */
export function allocatePort(config: ConfigData, context: ChangeContext): Changed<number> {
  const { cluster } = config
  const [pooled] = cluster.tcpudp_port_pool
  const port = pooled ?? cluster.highest_used_port + 1
  if (pooled === undefined && port > LAST_DRBD_PORT)
    throw new ConfigurationError(
      `The highest used port is ${cluster.highest_used_port} and the last possible one is ${LAST_DRBD_PORT}: no port is free`,
    )
  const used: Cluster =
    pooled === undefined
      ? { ...cluster, highest_used_port: port }
      : { ...cluster, tcpudp_port_pool: cluster.tcpudp_port_pool.slice(1) }
  return { config: { ...config, cluster: touched(used, context) }, result: port }
}

/** If a configured object already uses this port, it is not freed. */
export function addTcpUdpPort(config: ConfigData, context: ChangeContext, port: number): Changed<null> {
  if (!Number.isInteger(port)) throw new ConfigurationError(`Not a port: ${String(port)}`)
  return done(isPortUsed(config, port) ? config : returnPort(config, context, port))
}

/** It is the first to be allocated again, as in Ganeti. */
export function returnPort(config: ConfigData, context: ChangeContext, port: number): ConfigData {
  const { cluster } = config
  if (cluster.tcpudp_port_pool.includes(port)) return config
  return {
    ...config,
    cluster: touched({ ...cluster, tcpudp_port_pool: [port, ...cluster.tcpudp_port_pool] }, context),
  }
}

/** From now on noded obeys this client certificate of the node. */
export function addCandidateCert(
  config: ConfigData,
  context: ChangeContext,
  node: string,
  digest: string,
): Changed<null> {
  get(config, 'nodes', node)
  if (config.cluster.candidate_certs[node] === digest) return done(config)
  return patchCluster(config, context, { candidate_certs: { ...config.cluster.candidate_certs, [node]: digest } })
}

export function removeCandidateCert(config: ConfigData, context: ChangeContext, node: string): Changed<null> {
  if (config.cluster.candidate_certs[node] === undefined) return done(config)
  const { [node]: _removed, ...rest } = config.cluster.candidate_certs
  return patchCluster(config, context, { candidate_certs: rest })
}

/** For a master failover: the new master also becomes a candidate. */
export function setMasterNode(config: ConfigData, context: ChangeContext, node: string): Changed<null> {
  const master = get(config, 'nodes', node)
  const promoted = master.master_candidate
    ? config
    : put(config, 'nodes', touched({ ...master, master_candidate: true }, context))
  return patchCluster(promoted, context, { master_node: nodeUuid(node) })
}

/** The first step of destroying a cluster: afterwards no daemon acts as master with this configuration. */
export const prepareClusterDestruction = (config: ConfigData, context: ChangeContext): Changed<null> =>
  patchCluster(config, context, { master_node: '' })
