// OP_CLUSTER_ACTIVATE_MASTER_IP and OP_CLUSTER_DEACTIVATE_MASTER_IP.
import { masterNode } from '../../config/lookup'
import { masterParams } from '../../config/rpc-dicts'
import type { Node } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpClusterActivateMasterIp, OpClusterDeactivateMasterIp } from '../../opcodes/cluster'
import type { MasterParams } from '../../rpc/node/dicts'
import { logicalUnit } from '../logical-unit'
import type { UnitContext } from '../unit-context'

export const clusterActivateMasterIp = logicalUnit(OpClusterActivateMasterIp, {
  bigLock: true,
  check: (ctx) => readMaster(ctx),
  run: (ctx, _op, master) => activateMasterIp(ctx, master),
})

export const clusterDeactivateMasterIp = logicalUnit(OpClusterDeactivateMasterIp, {
  bigLock: true,
  check: (ctx) => readMaster(ctx),
  run: (ctx, _op, master) => deactivateMasterIp(ctx, master),
})

export interface Master {
  readonly node: Node
  readonly params: MasterParams
  readonly external: boolean
}

export async function readMaster(ctx: UnitContext): Promise<Master> {
  const config = await ctx.config.read({})
  const node = masterNode(config)
  if (node === undefined) throw new OpPrereqError('The cluster has no master node', ECODE.STATE)
  return { node, params: masterParams(config), external: config.cluster.use_external_mip_script }
}

export const activateMasterIp = (ctx: UnitContext, { node, params, external }: Master): Promise<null> =>
  ctx.nodes.call(node, 'Could not activate the master IP', 'node_activate_master_ip', [params, external])

export const deactivateMasterIp = (ctx: UnitContext, { node, params, external }: Master): Promise<null> =>
  ctx.nodes.call(node, 'Could not deactivate the master IP', 'node_deactivate_master_ip', [params, external])
