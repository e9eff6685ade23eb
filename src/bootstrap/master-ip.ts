// The cluster's own address. A node takes it when it becomes the master: as in Ganeti, when the master's daemons start.
import { masterNode } from '../config/lookup'
import { masterParams } from '../config/rpc-dicts'
import type { Log } from '../lib/log'
import type { ConfigData } from '../model/config'
import type { NodeClient } from '../rpc/node/client'

/** The cluster works without it, so nobody waits; `gnt-cluster activate-master-ip` tries again. */
export async function bringUpMasterIp(given: { config(): ConfigData; nodes: NodeClient; log: Log }): Promise<void> {
  const config = given.config()
  const master = masterNode(config)
  if (master === undefined) return
  try {
    const { use_external_mip_script } = config.cluster
    await given.nodes.one(master, 'node_activate_master_ip', [masterParams(config), use_external_mip_script])
  } catch (error) {
    given.log.error(
      { err: error },
      'the address of the cluster cannot be set up; gnt-cluster activate-master-ip tries again',
    )
  }
}
