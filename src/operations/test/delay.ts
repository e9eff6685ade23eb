// OP_TEST_DELAY: sleeps on the master and on nodes, with or without their locks. Tests of the queue and of locks use it.
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpTestDelay } from '../../opcodes/test'
import { wantedNodes } from '../find'
import { exclusive, logicalUnit } from '../logical-unit'

export const testDelay = logicalUnit(OpTestDelay, {
  async locks(op, ctx) {
    if (op.duration <= 0) throw new OpPrereqError('Duration must be greater than zero', ECODE.INVAL)
    const nodes = await wantedNodes(ctx, op.on_nodes)
    if (nodes.length > 0)
      ctx.note({ on_nodes: nodes.map((node) => node.name), on_node_uuids: nodes.map((node) => node.uuid) })
    if (op.no_locks) return {}
    const { cluster } = await ctx.config.read({})
    return { node: exclusive([...nodes.map((node) => node.uuid), ...(op.on_master ? [cluster.master_node] : [])]) }
  },
  check: (ctx, op) => wantedNodes(ctx, op.on_nodes),
  async run(ctx, op, nodes) {
    const rounds = Math.max(1, op.repeat)
    for (let round = 0; round < rounds; round++) {
      if (op.repeat > 0) ctx.log.info(`Test delay iteration ${round}/${rounds - 1}`)
      if (op.on_master) await ctx.env.clock.sleep(op.duration * 1000)
      const results = await ctx.nodes.many(nodes, 'test_delay', [op.duration])
      for (const node of nodes) ctx.nodes.raise(results, node, `Failure during rpc call to node ${node.name}`)
    }
    return null
  },
})
