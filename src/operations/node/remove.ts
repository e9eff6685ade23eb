// OP_NODE_REMOVE: removes a node without instances from the cluster.
import { change } from '../../config/changes'
import { instanceNodes } from '../../config/lookup'
import type { Node } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpNodeRemove } from '../../opcodes/node'
import { sendAncillaryFiles } from '../cluster/ancillary-files'
import { namedNode } from '../find'
import { logicalUnit } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { fillCandidatePool, leaving, removeSshKey } from './candidates'
import { errorText } from '../../lib/system-failure'

export const nodeRemove = logicalUnit(OpNodeRemove, {
  bigLock: true,
  async check(ctx, op) {
    const { object: node } = await namedNode(ctx, op)
    const config = await ctx.config.read({ nodes: 'all', instances: 'all' })
    if (node.uuid === config.cluster.master_node)
      throw new OpPrereqError('Node is the master node, failover to another node is required', ECODE.INVAL)
    const user = Object.values(config.instances).find((one) => instanceNodes(config, one).includes(node.uuid))
    if (user !== undefined)
      throw new OpPrereqError(`Instance ${user.name} is still running on the node, please remove first`, ECODE.INVAL)
    return { node, others: Object.keys(config.nodes).filter((uuid) => uuid !== node.uuid) }
  },
  hooks: {
    path: 'node-remove',
    type: 'NODE',
    env: (_ctx, _op, { node }) => ({ OP_TARGET: node.name, NODE_NAME: node.name }),
    // A broken node must not be able to keep itself in the cluster.
    nodes: (_ctx, _op, { others }) => ({ pre: others, post: others }),
  },
  async run(ctx, _op, { node }) {
    await removeSshKey(ctx, node, leaving(node))
    await fillCandidatePool(ctx, [], [change('removeNode', node.uuid)])
    await lastWords(ctx, node)
    const { cluster } = await ctx.config.read({})
    // Asked even if it is marked offline: it may be running.
    const there = { ...node, offline: false }
    const result = await ctx.nodes.attempt(there, 'node_leave_cluster', [cluster.modify_ssh_setup])
    if (!result.ok) ctx.log.warning(`Errors encountered on the remote node while leaving the cluster: ${result.error}`)
    if (cluster.modify_etc_hosts) await forgetHost(ctx, node)
    return null
  },
})

async function lastWords(ctx: UnitContext, node: Node): Promise<void> {
  try {
    await ctx.postHooksOn(node)
  } catch (error) {
    ctx.log.warning(`Errors occurred running hooks on ${node.name}: ${errorText(error)}`)
  }
}

async function forgetHost(ctx: UnitContext, node: Node): Promise<void> {
  const { cluster, nodes } = await ctx.config.read({ nodes: 'all' })
  const master = nodes[cluster.master_node]
  if (master === undefined) return
  const what = "Can't update hosts file with new host data"
  await ctx.nodes.call(master, what, 'etc_hosts_modify', ['remove', node.name, null])
  await sendAncillaryFiles(ctx, Object.values(nodes))
}
