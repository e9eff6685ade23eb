// Objects as /3 shows them: the query engine, page by page. Live data is asked for only for the page that is shown.
import { ECODE, OpPrereqError } from '../model/errors'
import { VIEW_PAGE_MAX } from '../model/limits'
import { niceCompare } from '../model/nice-sort'
import { keyField, queryFields, runQuery } from '../query/engine'
import type { QuerySource } from '../query/source'
import type { QueryFilter, QueryResource } from '../rpc/luxi/calls'
import type { ViewPage, ViewRequest } from '../rpc/luxi/gantry'
import type { Access } from './access'
import { submittedWith } from './events'

/** Kinds of objects as permissions name them: `nodes.list` for many, `nodes.query` for one. */
const KINDS: Partial<Record<QueryResource, string>> = {
  instance: 'instances',
  node: 'nodes',
  group: 'groups',
  network: 'networks',
  job: 'jobs',
  os: 'os',
  filter: 'filter',
  lock: 'locks',
}

export async function view(access: Access, request: ViewRequest, whole: QuerySource): Promise<ViewPage> {
  const { what, name, fields, after } = request
  const kind = KINDS[what]
  if (kind === undefined) throw new OpPrereqError(`There is no view of ${what}`, ECODE.INVAL)
  access.need(name === null ? `${kind}.list` : `${kind}.query`)
  refuseUnknown(what, fields)
  // Filters, too, look only at what the caller may know.
  const source = { ...whole, config: access.known(whole.config) }
  const key = keyField(what)
  const only = name === null ? request.filter : ['==', key, what === 'job' ? Number(name) : name]
  const visible = await keys(access, what, key, only, source)
  if (name !== null && visible.length === 0) throw new OpPrereqError(`There is no ${what} ${name}`, ECODE.NOENT)
  const from = after === null ? 0 : visible.findIndex((one) => niceCompare(String(one), after) > 0)
  const rest = from === -1 ? [] : visible.slice(from)
  const page = rest.slice(0, Math.min(Math.max(request.limit, 1), VIEW_PAGE_MAX))
  if (page.length === 0) return { rows: [], next: null }
  const chosen = ['|', ...page.map((one) => ['==', key, one])]
  const { data } = await runQuery(what, [key, ...fields], chosen, source)
  const rows = new Map(data.map(([first, ...cells]) => [first?.[1], cells.map(([, value]) => value)]))
  const last = rest.length > page.length ? page.at(-1) : undefined
  return { rows: page.flatMap((one) => [rows.get(one) ?? []]), next: last === undefined ? null : String(last) }
}

type Key = string | number

/** Of all objects that the caller may see, in their order. */
async function keys(
  access: Access,
  what: QueryResource,
  key: string,
  filter: QueryFilter,
  source: QuerySource,
): Promise<Key[]> {
  const isJob = what === 'job'
  const { data } = await runQuery(what, isJob ? [key, 'status', 'ops'] : [key], filter, source)
  // A job that was asked for by its id has a row even if there is none.
  const there = isJob ? data.filter(([, status]) => status?.[1] !== null) : data
  const found = there.filter(([id, , ops]) => seen(access, what, id?.[1], ops?.[1], source))
  const names = found.map(([id]) => id?.[1]).filter((value): value is Key => isKey(value))
  return names.sort((a, b) => niceCompare(String(a), String(b)))
}

const isKey = (value: unknown): value is Key => typeof value === 'string' || typeof value === 'number'

/** A token with a scope sees the objects in it, and the jobs that were submitted with it. */
function seen(access: Access, what: QueryResource, key: unknown, ops: unknown, source: QuerySource): boolean {
  if (!access.limited) return true
  if (what === 'job')
    return Array.isArray(ops) && submittedWith(access.identity.token, Reflect.get(Object(ops[0]), 'reason'))
  if (what === 'os') return true
  return access.sees(source.config, `${what}/${String(key)}`)
}

function refuseUnknown(what: QueryResource, fields: readonly string[]): void {
  const unknown = queryFields(what, fields).fields.filter(({ kind }) => kind === 'unknown')
  if (unknown.length > 0)
    throw new OpPrereqError(`Unknown fields of ${what}: ${unknown.map(({ name }) => name).join(', ')}`, ECODE.INVAL)
}
