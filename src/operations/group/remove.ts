// OP_GROUP_REMOVE: removes an empty group, unless it is the last one.
import { change } from '../../config/changes'
import { nodesOfGroup } from '../../config/lookup'
import { ECODE, OpPrereqError } from '../../model/errors'
import { niceSort } from '../../model/nice-sort'
import { OpGroupRemove } from '../../opcodes/group'
import { logicalUnit } from '../logical-unit'
import { findGroupAndAll, lockGroup, masterOnly } from './members'

export const groupRemove = logicalUnit(OpGroupRemove, {
  locks: lockGroup,
  async check(ctx, op) {
    const { config, object: group } = await findGroupAndAll(ctx, op.group_name)
    const members = nodesOfGroup(config, group.uuid).map((node) => node.name)
    if (members.length > 0)
      throw new OpPrereqError(
        `Group '${op.group_name}' not empty, has the following nodes: ${niceSort(members).join(', ')}`,
        ECODE.STATE,
      )
    if (Object.keys(config.nodegroups).length === 1)
      throw new OpPrereqError(`Group '${op.group_name}' is the only group, cannot be removed`, ECODE.STATE)
    return { config, group }
  },
  hooks: {
    path: 'group-remove',
    type: 'GROUP',
    env: (_ctx, op) => ({ GROUP_NAME: op.group_name }),
    nodes: (_ctx, _op, { config }) => masterOnly(config),
  },
  changes: (_ctx, _op, { group }) => [change('removeNodeGroup', group.uuid)],
})
