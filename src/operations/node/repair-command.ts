// OP_REPAIR_COMMAND: runs a program that a node's administrator has allowed for repairs. It reads the fault from its
// standard input.
import { OpRepairCommand } from '../../opcodes/node'
import { namedNode } from '../find'
import { exclusive, logicalUnit } from '../logical-unit'

export const repairCommand = logicalUnit(OpRepairCommand, {
  async locks(op, ctx) {
    const { object } = await namedNode(ctx, op)
    return { node: exclusive([object.uuid]) }
  },
  check: async (ctx, op) => (await namedNode(ctx, op)).object,
  run: (ctx, op, node) =>
    ctx.nodes.call(node, `Repair command '${op.command}' on node '${node.name}' failed`, 'repair_command', [
      op.command,
      op.input ?? null,
    ]),
})
