// The cluster's own address. As in Ganeti, a node takes it when it becomes the master and its master daemons start.
import { masterNode } from '../config/lookup'
import { masterParams } from '../config/rpc-dicts'
import type { Clock } from '../lib/clock'
import type { Log } from '../lib/log'
import type { Paths } from '../lib/paths'
import { servesTcp } from '../lib/net/resolve'
import type { ConfigData } from '../model/config'
import { PORT } from '../model/constants/daemons'
import { MASTER_IP_PAUSE_S, MASTER_IP_PING_S, MASTER_IP_S } from '../model/limits/master'
import type { NodeClient } from '../rpc/node/client'

/** The cluster works without it, so nobody waits. `gnt-cluster activate-master-ip` tries again. */
export async function bringUpMasterIp(input: { config(): ConfigData; nodes: NodeClient; log: Log }): Promise<void> {
  const config = input.config()
  const master = masterNode(config)
  if (master === undefined) return
  try {
    const { use_external_mip_script } = config.cluster
    await input.nodes.one(master, 'node_activate_master_ip', [masterParams(config), use_external_mip_script])
  } catch (error) {
    input.log.error(
      { err: error },
      'the address of the cluster cannot be set up; gnt-cluster activate-master-ip tries again',
    )
  }
}

/**
 * Waits until the cluster's address is served, or until it is not. Returns false after a timeout: setting it up first
 * asks the network for another owner, which takes seconds. Daemons of virtual nodes listen only at their nodes'
 * addresses.
 */
export async function masterIpBecomes(
  up: boolean,
  ip: string,
  { clock, paths }: { clock: Clock; paths: Paths },
): Promise<boolean> {
  if (paths.root !== '') return true
  for (const end_ms = clock.monotonic_ms() + MASTER_IP_S * 1000; clock.monotonic_ms() < end_ms;) {
    if ((await servesTcp(ip, PORT.noded, MASTER_IP_PING_S)) === up) return true
    await clock.sleep(MASTER_IP_PAUSE_S * 1000)
  }
  return false
}

export const noMasterIp = (): string =>
  `The master IP did not come up within ${MASTER_IP_S} seconds; the cluster should still be working and reachable ` +
  'via this node, but not via the master IP address'
