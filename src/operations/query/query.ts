// OP_QUERY and OP_QUERY_FIELDS: queries that luxid does not answer itself.
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpQuery, OpQueryFields } from '../../opcodes/query'
import { logicalUnit } from '../logical-unit'
import { queriesOf } from './ask'

export const query = logicalUnit(OpQuery, {
  async check(_ctx, op) {
    if (!op.use_locking) return
    const text = op.what === 'cluster' ? 'Can not use locking for cluster queries' : 'Sync queries are not allowed'
    throw new OpPrereqError(text, ECODE.INVAL)
  },
  run: (ctx, op) => queriesOf(ctx).query(op.what, op.fields, op.qfilter ?? null),
})

export const queryFields = logicalUnit(OpQueryFields, {
  check: async () => undefined,
  /** An empty list requests no fields. In a question to luxid it would request all. */
  run: async (ctx, op) =>
    op.fields?.length === 0 ? { fields: [] } : queriesOf(ctx).queryFields(op.what, op.fields ?? null),
})
