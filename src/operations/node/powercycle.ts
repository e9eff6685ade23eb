// OP_NODE_POWERCYCLE: hard-resets a node. It is a last resort, so it waits for no lock.
import { OpExecError, OpPrereqError, ECODE } from '../../model/errors'
import { OpNodePowercycle } from '../../opcodes/node'
import { namedNode } from '../find'
import { logicalUnit } from '../logical-unit'

export const nodePowercycle = logicalUnit(OpNodePowercycle, {
  async check(ctx, op) {
    const found = await namedNode(ctx, op)
    if (found.object.uuid === found.config.cluster.master_node && !op.force)
      throw new OpPrereqError('The node is the master and the force parameter was not set', ECODE.INVAL)
    return found
  },
  async run(ctx, _op, { config: { cluster }, object: node }) {
    const [hypervisor] = cluster.enabled_hypervisors
    if (hypervisor === undefined) throw new OpExecError('The cluster has no enabled hypervisor')
    const args = [hypervisor, cluster.hvparams[hypervisor] ?? {}] as const
    return ctx.nodes.call(node, 'Failed to schedule the reboot', 'node_powercycle', [...args])
  },
})
