// OP_CLUSTER_QUERY, OP_CLUSTER_CONFIG_QUERY, and OP_CLUSTER_POST_INIT, whose only work is its hook.
import { clusterInfo } from '../../query/cluster-info'
import { OpClusterConfigQuery, OpClusterPostInit, OpClusterQuery } from '../../opcodes/cluster'
import { logicalUnit } from '../logical-unit'
import { plainRows } from '../query/ask'

export const clusterQuery = logicalUnit(OpClusterQuery, {
  check: async () => undefined,
  run: async (ctx) => clusterInfo(await ctx.config.read({})),
})

export const clusterConfigQuery = logicalUnit(OpClusterConfigQuery, {
  check: async () => undefined,
  run: async (ctx, op) => (await plainRows(ctx, 'cluster', op.output_fields, null))[0] ?? [],
})

export const clusterPostInit = logicalUnit(OpClusterPostInit, {
  bigLock: true,
  hooks: {
    path: 'cluster-init',
    type: 'CLUSTER',
    env: (_ctx, _op, { cluster }) => ({ OP_TARGET: cluster.cluster_name }),
    nodes: (_ctx, _op, { cluster }) => ({ pre: [], post: [cluster.master_node] }),
  },
  check: (ctx) => ctx.config.read({}),
  run: async () => true,
})
