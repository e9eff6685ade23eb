// OP_CLUSTER_DESTROY: gives up an empty cluster. The caller stops the daemons and removes the files.
import { change } from '../../config/changes'
import { changeOrAdvise } from '../change-or-advise'
import { recordSize } from '../../config/records'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpClusterDestroy } from '../../opcodes/cluster'
import { logicalUnit } from '../logical-unit'
import { readMaster } from './master-ip'

export const clusterDestroy = logicalUnit(OpClusterDestroy, {
  bigLock: true,
  async check(ctx) {
    const { cluster, nodes, instances } = await ctx.config.read({ nodes: 'all', instances: 'all' })
    const others = recordSize(nodes) - 1
    if (others > 0) throw new OpPrereqError(`There are still ${others} node(s) in this cluster.`, ECODE.INVAL)
    if (recordSize(instances) > 0)
      throw new OpPrereqError(`There are still ${recordSize(instances)} instance(s) in this cluster.`, ECODE.INVAL)
    return cluster.cluster_name
  },
  hooks: {
    path: 'cluster-destroy',
    type: 'CLUSTER',
    env: (_ctx, _op, name) => ({ OP_TARGET: name }),
    nodes: () => ({ pre: [], post: [] }),
  },
  async run(ctx) {
    const { node, params, external } = await readMaster(ctx)
    // While there still is a master to run them.
    await ctx.postHooksOn(node)
    const result = await ctx.nodes.attempt(node, 'node_deactivate_master_ip', [params, external])
    if (!result.ok) ctx.log.warning(`Error disabling the master IP address: ${result.error}`)
    const advice = "'gnt-cluster activate-master-ip' brings the address back, as long as the cluster is kept"
    await changeOrAdvise(ctx, [change('prepareClusterDestruction')], advice)
    return node.uuid
  },
})
