// OP_GROUP_ASSIGN_NODES: moves nodes into a group. Refuses if this would split an instance's mirrored disks between two
// groups.
import { change } from '../../config/changes'
import { instanceDisks, instanceNodes } from '../../config/lookup'
import type { ConfigData, Instance } from '../../model/config'
import { OpExecError } from '../../model/errors'
import { niceSort } from '../../model/nice-sort'
import { OpGroupAssignNodes } from '../../opcodes/group'
import { findGroup, wantedNodes } from '../find'
import { exclusive, logicalUnit } from '../logical-unit'
import { findGroupAndAll, sameNames } from './members'
import { isMirroredInside } from '../../model/templates'

export const groupAssignNodes = logicalUnit(OpGroupAssignNodes, {
  async locks(op, ctx) {
    const { object: group } = await findGroup(ctx, op.group_name)
    const nodes = await wantedNodes(ctx, op.nodes, op.node_uuids)
    ctx.note({ nodes: nodes.map((node) => node.name), node_uuids: nodes.map((node) => node.uuid) })
    return {
      nodegroup: exclusive([...new Set([group.uuid, ...nodes.map((node) => node.group)])]),
      node: exclusive(nodes.map((node) => node.uuid)),
    }
  },
  async check(ctx, op) {
    const nodes = await wantedNodes(ctx, op.nodes)
    const { config, object: group } = await findGroupAndAll(ctx, op.group_name)
    const expected = [...new Set([group.uuid, ...nodes.map((node) => node.group)])]
    const held = ctx.locks.holds('nodegroup')
    if (held !== 'all' && !sameNames(held, expected))
      throw new OpExecError(
        `Nodes changed groups since locks were acquired, current groups are '${expected.join(', ')}', used to be '${held.join(', ')}'`,
      )
    const moves = nodes.map((node): [string, string] => [node.uuid, group.uuid])
    const { split, stillSplit } = splitInstances(config, new Map(moves))
    if (split.length > 0) {
      if (!op.force)
        throw new OpExecError(
          `The following instances get split by this change and --force was not given: ${split.join(', ')}`,
        )
      ctx.log.warning(`This operation will split the following instances: ${split.join(', ')}`)
      if (stillSplit.length > 0)
        ctx.log.warning(
          `In addition, these already-split instances continue to be split across groups: ${stillSplit.join(', ')}`,
        )
    }
    return moves
  },
  changes: (_ctx, _op, moves) => [change('assignGroupNodes', moves)],
})

/** Names of mirrored instances with nodes in several groups: those that become so, and those that already are. */
export function splitInstances(
  config: ConfigData,
  moves: ReadonlyMap<string, string>,
): { split: string[]; stillSplit: string[] } {
  const mirrored = Object.values(config.instances).filter((instance) =>
    instanceDisks(config, instance).some((disk) => isMirroredInside(disk.dev_type)),
  )
  const isSplit = (instance: Instance, groupOf: (node: string) => string | undefined) =>
    new Set(instanceNodes(config, instance).map(groupOf)).size > 1
  const now = (node: string) => config.nodes[node]?.group
  const after = mirrored.filter((instance) => isSplit(instance, (node) => moves.get(node) ?? now(node)))
  const names = (before: boolean) =>
    niceSort(after.filter((instance) => isSplit(instance, now) === before).map((instance) => instance.name))
  return { split: names(false), stillSplit: names(true) }
}
