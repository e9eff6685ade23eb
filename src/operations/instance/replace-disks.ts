// OP_INSTANCE_REPLACE_DISKS: new disks on one side of a mirror, or another secondary node. This version has no mirrored disks of its
// own making, so all that it does is to say why an instance has nothing to replace.
import { DISKS_NOT_REPLACED } from '../../model/constants/disks'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpInstanceReplaceDisks } from '../../opcodes/instance'
import { logicalUnit, type Op } from '../logical-unit'
import { locksOfInstance, readInstance } from './view'

const instanceLocks = locksOfInstance(['node', 'node-res'])

export const instanceReplaceDisks = logicalUnit(OpInstanceReplaceDisks, {
  locks(op, ctx) {
    checkArguments(op)
    return instanceLocks.locks(op, ctx)
  },
  declare: instanceLocks.declare,
  async check(ctx, op): Promise<never> {
    const { secondaries } = await readInstance(ctx, op)
    if (secondaries.length !== 1)
      throw new OpPrereqError(
        `The instance has a strange layout, expected one secondary but found ${secondaries.length}`,
        ECODE.FAULT,
      )
    throw new OpPrereqError(DISKS_NOT_REPLACED, ECODE.INVAL)
  },
})

function checkArguments({ mode, remote_node, iallocator }: Op<typeof OpInstanceReplaceDisks>): void {
  const given = remote_node !== undefined || iallocator !== undefined
  if (mode === 'replace_new_secondary' && !given)
    throw new OpPrereqError('A new secondary node is either named or chosen by an allocator', ECODE.INVAL)
  if (mode !== 'replace_new_secondary' && given)
    throw new OpPrereqError('A new node or an allocator is for a change of the secondary node only', ECODE.INVAL)
}
