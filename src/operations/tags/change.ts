// OP_TAGS_SET and OP_TAGS_DEL.
import { checkTag } from '../../config/changes/tags'
import { change } from '../../config/changes'
import { ECODE, OpExecError, OpPrereqError, TagError } from '../../model/errors'
import { OpTagsDel, OpTagsSet } from '../../opcodes/tags'
import { exclusive, logicalUnit } from '../logical-unit'
import { lockTarget, tagTarget } from './target'

export const tagsSet = logicalUnit(OpTagsSet, {
  locks: (op, ctx) => lockTarget(ctx, op, exclusive),
  async check(ctx, op) {
    const target = await tagTarget(ctx, op)
    for (const tag of op.tags) checkTag(tag)
    return target
  },
  async run(ctx, op, { uuid }) {
    try {
      await ctx.config.change([change('addTags', op.kind, uuid, op.tags)])
    } catch (error) {
      if (error instanceof TagError) throw new OpExecError(`Error while setting tag: ${error.message}`)
      throw error
    }
    return null
  },
})

export const tagsDel = logicalUnit(OpTagsDel, {
  locks: (op, ctx) => lockTarget(ctx, op, exclusive),
  async check(ctx, op) {
    const target = await tagTarget(ctx, op)
    for (const tag of op.tags) checkTag(tag)
    const missing = op.tags.filter((tag) => !target.tags.includes(tag)).sort()
    if (missing.length > 0)
      throw new OpPrereqError(`Tag(s) ${missing.map((tag) => `'${tag}'`).join(', ')} not found`, ECODE.NOENT)
    return target
  },
  changes: (_ctx, op, { uuid }) => [change('removeTags', op.kind, uuid, op.tags)],
})
