// Exports as /3 shows them. They have no name: a node and an instance identify one.
import { ECODE, OpPrereqError } from '../../model/errors'
import { niceCompare } from '../../model/nice-sort'
import { runQuery } from '../../query/engine'
import type { QuerySource } from '../../query/source'
import type { Cell } from '../../rpc/luxi/calls'
import type { ViewPage, ViewRequest } from '../../rpc/luxi/gantry'
import type { Access } from '../access/access'
import { pageOf } from './view-page'

/**
 * `source` is the part that the caller may know. An export's data belong to its instance, so a caller that does not see
 * the instance sees no export.
 */
export async function exportsView(access: Access, request: ViewRequest, source: QuerySource): Promise<ViewPage> {
  if (request.sort !== null) throw new OpPrereqError('Exports come in the order of their nodes', ECODE.INVAL)
  const { data } = await runQuery('export', ['node', 'export', ...request.fields], request.filter, source)
  const isSeen = ([, name]: readonly Cell[]): boolean =>
    typeof name?.[1] !== 'string' || access.sees(source.config, `instance/${name[1]}`)
  const rows = data.filter(isSeen).sort((a, b) => niceCompare(keyOf(a), keyOf(b)))
  const { page, next } = pageOf(rows, keyOf, request)
  return { rows: page.map((row) => row.slice(2).map(([, value]) => value ?? null)), next }
}

/** A node that did not answer has one row without an export. */
const keyOf = ([node, name]: readonly Cell[]): string => `${String(node?.[1])}/${String(name?.[1] ?? '')}`
