// OP_OS_DIAGNOSE and OP_EXT_STORAGE_DIAGNOSE: tables over the nodes, made by the query engine.
import type { QueryFilter } from '../../rpc/luxi/calls'
import { OpExtStorageDiagnose, OpOsDiagnose } from '../../opcodes/os'
import { logicalUnit } from '../logical-unit'
import { allOf, namesFilter, plainRows } from '../query/ask'

export const osDiagnose = logicalUnit(OpOsDiagnose, {
  check: async () => undefined,
  run: (ctx, op) =>
    plainRows(ctx, 'os', op.output_fields, allOf(namesFilter('name', op.names), usable(op.output_fields))),
})

/** Hides unusable OSes, unless the caller requests the field with the reason: valid, hidden or blacklisted. */
function usable(fields: readonly string[]): QueryFilter {
  const requested = (field: string) => fields.includes(field)
  return allOf(
    requested('hidden') ? null : ['!', ['?', 'hidden']],
    requested('blacklisted') ? null : ['!', ['?', 'blacklisted']],
    requested('valid') ? null : ['?', 'valid'],
  )
}

export const extStorageDiagnose = logicalUnit(OpExtStorageDiagnose, {
  check: async () => undefined,
  run: (ctx, op) => plainRows(ctx, 'extstorage', op.output_fields, namesFilter('name', op.names)),
})
