// OP_RESTRICTED_COMMAND: runs a program that the nodes' administrators have allowed, and returns each node's answer.
import { OpRestrictedCommand } from '../../opcodes/node'
import { wantedNodes } from '../find'
import { exclusive, logicalUnit, shared } from '../logical-unit'

export const restrictedCommand = logicalUnit(OpRestrictedCommand, {
  async locks(op, ctx) {
    const nodes = await wantedNodes(ctx, op.nodes, op.node_uuids)
    ctx.note({ nodes: nodes.map(({ name }) => name), node_uuids: nodes.map(({ uuid }) => uuid) })
    const want = op.use_locking ? exclusive : shared
    return { node: want(nodes.map((node) => node.uuid)) }
  },
  check: (ctx, op) => wantedNodes(ctx, op.nodes),
  async run(ctx, op, nodes) {
    const results = await ctx.nodes.many(nodes, 'restricted_command', [op.command])
    return nodes.map((node): [boolean, string] => {
      const result = results.get(node.uuid)
      if (result?.ok) return [true, result.payload]
      return [false, `Command '${op.command}' on node '${node.name}' failed: ${result?.error ?? 'no answer'}`]
    })
  },
})
