// OP_GROUP_RENAME.
import { change } from '../../config/changes'
import { findGroup, nodesOfGroup } from '../../config/lookup'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpGroupRename } from '../../opcodes/group'
import { logicalUnit } from '../logical-unit'
import { findGroupAndAll, lockGroup } from './members'

export const groupRename = logicalUnit(OpGroupRename, {
  locks: lockGroup,
  async check(ctx, op) {
    const { config, object: group } = await findGroupAndAll(ctx, op.group_name)
    const clash = findGroup(config, op.new_name)
    if (clash !== undefined)
      throw new OpPrereqError(
        `Desired new name '${op.new_name}' clashes with existing node group (UUID: ${clash.uuid})`,
        ECODE.EXISTS,
      )
    return { config, group }
  },
  hooks: {
    path: 'group-rename',
    type: 'GROUP',
    env: (_ctx, op) => ({ OLD_NAME: op.group_name, NEW_NAME: op.new_name }),
    nodes: (_ctx, _op, { config, group }) => {
      const members = nodesOfGroup(config, group.uuid).map((node) => node.uuid)
      const nodes = [...new Set<string>([config.cluster.master_node, ...members])]
      return { pre: nodes, post: nodes }
    },
  },
  async run(ctx, op, { group }) {
    await ctx.config.change([change('patchNodeGroup', group.uuid, { name: op.new_name })])
    return op.new_name
  },
})
