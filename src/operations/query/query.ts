// OP_QUERY and OP_QUERY_FIELDS: what luxid does not answer by itself.
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpQuery, OpQueryFields } from '../../opcodes/query'
import { logicalUnit } from '../logical-unit'
import { queriesOf } from './ask'

export const query = logicalUnit(OpQuery, {
  async check(_ctx, op) {
    if (op.use_locking) throw new OpPrereqError('Sync queries are not allowed', ECODE.INVAL)
  },
  run: (ctx, op) => queriesOf(ctx).query(op.what, op.fields, op.qfilter ?? null),
})

export const queryFields = logicalUnit(OpQueryFields, {
  check: async () => undefined,
  run: (ctx, op) => queriesOf(ctx).queryFields(op.what, op.fields ?? null),
})
