// OP_CLUSTER_QUERY, OP_CLUSTER_CONFIG_QUERY, and OP_CLUSTER_POST_INIT, which mainly runs its hook.
import { fillNdParams } from '../../config/filled'
import { masterNode } from '../../config/lookup'
import { clusterInfo } from '../../query/cluster-info'
import type { ConfigData } from '../../model/config'
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
    env: (_ctx, _op, { cluster }: ConfigData) => ({ OP_TARGET: cluster.cluster_name }),
    nodes: (_ctx, _op, { cluster }: ConfigData) => ({ pre: [], post: [cluster.master_node] }),
  },
  check: (ctx) => ctx.config.read({}),
  async run(ctx, _op, config: ConfigData) {
    const master = masterNode(config)
    const params = master && fillNdParams(config, master)
    if (master === undefined || params?.ovs !== true) return true
    if (params.ovs_link === '')
      ctx.log.info('No physical interface for Open vSwitch was given: it will have no outside connection')
    const link = params.ovs_link === '' ? null : params.ovs_link
    const what = 'Could not configure Open vSwitch'
    await ctx.nodes.call(master, what, 'node_configure_ovs', [params.ovs_name, link])
    return true
  },
})
