// Checks a node's new second address: the node must have it, and no instance may use the old one.
import type { ConfigData, Instance, Node } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { checkInstanceState, DOWN } from '../instance/checks'
import { viewOf } from '../instance/view'
import type { UnitContext } from '../unit-context'
import { checkHasIp, checkReachable, isSingleHomed } from './secondary-ip'

export async function checkSecondaryIp(
  ctx: UnitContext,
  config: ConfigData,
  node: Node,
  ip: string,
  force: boolean,
  affected: readonly Instance[],
): Promise<void> {
  const master = config.nodes[config.cluster.master_node] ?? node
  checkHoming(ctx, master, node, ip, force)
  if (node.offline) {
    if (affected.length === 0) return
    const names = affected.map(({ name }) => name).join(', ')
    throw new OpPrereqError(
      `Cannot change secondary IP address: offline node has instances (${names}) configured to use it`,
      ECODE.STATE,
    )
  }
  for (const instance of affected)
    await checkInstanceState(ctx, viewOf(config, instance), DOWN, 'cannot change secondary ip')
  await checkHasIp(ctx, node, ip)
  if (node.uuid !== master.uuid) await checkReachable(ctx, node, ip)
}

/** Nodes have one address, or two. To change a cluster from one to two, start with its master, and use `--force`. */
function checkHoming(ctx: UnitContext, master: Node, node: Node, ip: string, force: boolean): void {
  const single = isSingleHomed(master)
  const toSingle = ip === node.primary_ip
  if (single === toSingle) return
  const forced = force && node.uuid === master.uuid
  if (single) {
    if (!forced)
      throw new OpPrereqError(
        'Changing the secondary ip on a single-homed cluster requires the --force option to be passed, and the target node to be the master',
        ECODE.INVAL,
      )
    ctx.log.warning(
      'Transitioning from single-homed to multi-homed cluster; all nodes will require a secondary IP address',
    )
    return
  }
  if (!forced)
    throw new OpPrereqError(
      'Cannot set the secondary IP to be the same as the primary IP on a multi-homed cluster, unless the --force option is passed, and the target node is the master',
      ECODE.INVAL,
    )
  ctx.log.warning(
    'Transitioning from multi-homed to single-homed cluster; secondary IP addresses will have to be removed',
  )
}
