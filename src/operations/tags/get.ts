// OP_TAGS_GET: the tags of one object.
import { OpTagsGet } from '../../opcodes/tags'
import { logicalUnit, shared } from '../logical-unit'
import { lockTarget, tagTarget } from './target'

export const tagsGet = logicalUnit(OpTagsGet, {
  locks: (op, ctx) => (op.use_locking ? lockTarget(ctx, op, shared) : {}),
  check: (ctx, op) => tagTarget(ctx, op),
  run: async (_ctx, _op, { tags }) => [...tags].sort(),
})
