// OP_BACKUP_REMOVE: deletes an instance's exports from all nodes. The instance itself may be gone.
import { OpBackupRemove } from '../../opcodes/backup'
import { ECODE, OpPrereqError } from '../../model/errors'
import { expectUuid, pick } from '../find'
import { all, exclusive, logicalUnit } from '../logical-unit'

export const backupRemove = logicalUnit(OpBackupRemove, {
  locks: () => ({ node: exclusive(all) }),
  async check(ctx, op) {
    if (op.instance_name.includes('/'))
      throw new OpPrereqError(
        `'${op.instance_name}' is not the name of an export: that is the name of its instance; gnt-backup list shows all`,
        ECODE.INVAL,
      )
    const { instances } = await ctx.config.read({ instances: [op.instance_name] })
    const known = pick(instances, op.instance_name)
    if (known !== undefined) expectUuid('instance', op.instance_name, known.uuid, op.instance_uuid)
    return { known, nodes: (await ctx.config.read({ nodes: 'all' })).nodes }
  },
  async run(ctx, op, { known, nodes }) {
    const name = known?.name ?? op.instance_name
    let found = false
    const lists = await ctx.nodes.many(Object.values(nodes), 'export_list', [])
    for (const node of Object.values(nodes)) {
      const list = lists.get(node.uuid)
      if (list?.ok !== true) {
        ctx.log.warning(`Failed to query node ${node.name} (continuing): ${list?.error ?? 'no answer'}`)
        continue
      }
      if (!list.payload.includes(name)) continue
      found = true
      const result = await ctx.nodes.attempt(node, 'export_remove', [name])
      if (!result.ok) ctx.log.warning(`Could not remove export of ${name} on node ${node.name}: ${result.error}`)
    }
    if (known === undefined && !found)
      ctx.log.say(
        'Export not found. If trying to remove an export belonging to a deleted instance please use its Fully Qualified Domain Name.',
      )
    return null
  },
})
