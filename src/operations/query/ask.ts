// Asks the query engine inside a job, for questions that Ganeti answers by opcode.
import { ECODE, GenericError, OpPrereqError } from '../../model/errors'
import { niceSort } from '../../model/nice-sort'
import type { QueryFilter, QueryResource } from '../../rpc/luxi/calls'
import type { JobQueries } from '../environment'
import type { UnitContext } from '../unit-context'

export function queriesOf(ctx: UnitContext): JobQueries {
  const { queries } = ctx.env
  if (queries === undefined) throw new GenericError('Queries are not available to this job')
  return queries
}

/** Rows of plain values. Refuses unknown fields, as Ganeti's older calls do. */
export async function plainRows(
  ctx: UnitContext,
  what: QueryResource,
  fields: readonly string[],
  filter: QueryFilter,
): Promise<unknown[][]> {
  const answer = await queriesOf(ctx).query(what, fields, filter)
  const unknown = answer.fields.filter((field) => field.kind === 'unknown').map((field) => field.name)
  if (unknown.length > 0)
    throw new OpPrereqError(`Unknown output fields selected: ${niceSort(unknown).join(', ')}`, ECODE.INVAL)
  return answer.data.map((row) => row.map(([, value]) => value))
}

/** Any of the names, or everything if none is given. */
export const namesFilter = (field: string, names: readonly string[]): QueryFilter =>
  names.length === 0 ? null : ['|', ...names.map((name) => ['=', field, name])]

/** All parts must hold; null parts are ignored. */
export function allOf(...parts: readonly QueryFilter[]): QueryFilter {
  const input = parts.filter((part) => part !== null)
  return input.length === 0 ? null : ['&', ...input]
}
