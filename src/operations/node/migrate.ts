// OP_NODE_MIGRATE: one migration job for each instance that runs on the node. For an instance that is only reserved there, the record is
// changed.
import { primaryInstances } from '../../config/lookup'
import type { Instance } from '../../model/config'
import { isReserved } from '../../model/instance'
import { niceSortBy } from '../../model/nice-sort'
import { OpNodeMigrate } from '../../opcodes/node'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { namedNode } from '../find'
import { masterOnly } from '../group/members'
import { logicalUnit, ResultWithJobs, shared } from '../logical-unit'

export const nodeMigrate = logicalUnit(OpNodeMigrate, {
  locks: async (op, ctx) => ({ node: shared([(await namedNode(ctx, op)).object.uuid]) }),
  check: (ctx, op) => namedNode(ctx, op),
  hooks: {
    path: 'node-migrate',
    type: 'NODE',
    env: (_ctx, op, { object: node }) => ({
      NODE_NAME: node.name,
      ALLOW_RUNTIME_CHANGES: op.allow_runtime_changes,
    }),
    nodes: (_ctx, _op, { config }) => masterOnly(config),
  },
  async run(ctx, op, { object: node }) {
    const config = await ctx.config.read({ instances: 'all' })
    const instances = niceSortBy(primaryInstances(config, node.uuid), ({ name }) => name)
    const { mode, live, iallocator, target_node, target_node_uuid, allow_runtime_changes, ignore_ipolicy } = op
    const place = present({ iallocator, target_node, target_node_uuid })
    const input = { ...present({ mode, live }), ...place }
    const job = (instance: Instance): WireOpCode[] => [
      isReserved(instance)
        ? { OP_ID: 'OP_INSTANCE_FAILOVER', instance_name: instance.name, ignore_ipolicy, ...place }
        : {
            OP_ID: 'OP_INSTANCE_MIGRATE',
            instance_name: instance.name,
            allow_runtime_changes,
            ignore_ipolicy,
            ...input,
          },
    ]
    return new ResultWithJobs(instances.map(job))
  },
})

const present = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
