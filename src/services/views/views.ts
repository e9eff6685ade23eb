// Objects as /3 shows them: the query engine, page by page. Only the shown page asks for live data.
import { stampText } from '../../lib/text/rfc3339'
import { ECODE, OpPrereqError } from '../../model/errors'
import { KINDS } from '../../model/permissions'
import { keyField, queryFields, runQuery } from '../../query/engine'
import type { JobOutline, JobReader, OpView, QuerySource } from '../../query/source'
import type { QueryFilter, QueryResource } from '../../rpc/luxi/calls'
import type { ViewPage, ViewRequest, ViewSort } from '../../rpc/luxi/gantry'
import type { Access } from '../access/access'
import { type Telling, tellingFor } from '../access/hidden-names'
import { describe } from '../access/scope'
import { exportsView } from './exports-view'
import type { NodeCache } from '../live-data/node-cache'
import { isKey, type Ranked, rankedPage } from './ranked'

export async function view(
  access: Access,
  request: ViewRequest,
  whole: QuerySource,
  known: NodeCache,
): Promise<ViewPage> {
  const { what, name, fields } = request
  const kind = KINDS.get(what)
  if (kind === undefined || (what === 'export' && name !== null))
    throw new OpPrereqError(`There is no view of ${what}`, ECODE.INVAL)
  access.need(name === null ? `${kind}.list` : `${kind}.query`)
  refuseUnknown(what, request.sort === null ? fields : [...fields, request.sort.field])
  // Filters also use only what the caller may know.
  const live = request.known ? known.insteadOf(whole.live) : whole.live
  const source = {
    ...whole,
    live,
    config: access.known(whole.config),
    unseen: access.unseen(whole.config),
    jobs: whole.jobs && visibleJobs(access, whole.jobs, tellingFor(access, whole.config)),
  }
  if (what === 'export') return exportsView(access, request, source)
  const key = keyField(what)
  const only = name === null ? request.filter : ['==', key, what === 'job' ? Number(name) : name]
  const visible = await ranked(access, { what, key, filter: only, sort: request.sort }, source)
  if (name !== null && visible.length === 0) throw new OpPrereqError(`There is no ${what} ${name}`, ECODE.NOENT)
  const { page, next } = rankedPage(visible, request)
  if (page.length === 0) return { rows: [], next: null }
  const chosen = ['|', ...page.map((one) => ['==', key, one])]
  const rows = await rowsOf(request, chosen, source)
  return { rows: page.flatMap((one) => [rows.get(one) ?? []]), next }
}

/** By key: the shown fields of each object. */
async function rowsOf(
  { what, fields }: ViewRequest,
  chosen: QueryFilter,
  source: QuerySource,
): Promise<Map<unknown, unknown[]>> {
  const { fields: described, data } = await runQuery(what, [keyField(what), ...fields], chosen, source)
  const kinds = new Map(described.map(({ name, kind }) => [name, kind]))
  const rows = data.map(([key, ...cells]) => {
    const displayed = (field: string, at: number): unknown => {
      const value = cells[at]?.[1] ?? null
      return kinds.get(field) === 'timestamp' ? stampText(value) : value
    }
    return [key?.[1], fields.map(displayed)] as const
  })
  return new Map(rows)
}

interface Wanted {
  readonly what: QueryResource
  readonly key: string
  readonly filter: QueryFilter
  readonly sort: ViewSort | null
}

/** The keys of all objects that the caller may see, with the value by which the list is sorted. */
async function ranked(access: Access, { what, key, filter, sort }: Wanted, source: QuerySource): Promise<Ranked[]> {
  const isJob = what === 'job'
  const fields = [key, isJob ? 'status' : key, sort?.field ?? key]
  const { data } = await runQuery(what, fields, filter, source)
  // A job that was requested by id has a row even if it does not exist.
  const there = isJob ? data.filter(([, status]) => status?.[1] !== null) : data
  const found = there.filter(([id]) => observed(access, what, id?.[1], source))
  return found.flatMap(([id, , value]) => (isKey(id?.[1]) ? { key: id[1], value: value?.[1] ?? null } : []))
}

/** A token with a scope sees the jobs that were submitted with it. */
function visibleJobs(access: Access, jobs: JobReader, telling: Telling): JobReader {
  if (!access.limited) return jobs
  const token = access.identity.token ?? ''
  const isVisible = ({ tokens }: Pick<JobOutline, 'tokens'>) => tokens.includes(token)
  return {
    all: async (options) => (await jobs.all(options)).filter(isVisible),
    known(id) {
      const job = jobs.known(id)
      return job && isVisible(job) ? job : undefined
    },
    one: async (id) => {
      const job = await jobs.one(id)
      return job && isVisible(job) ? { ...job, ops: job.ops.map((op) => toldOp(telling, op)) } : undefined
    },
  }
}

/** The allocator gives nodes as reasons, and a step that fails names what was in its way. */
const toldOp = (telling: Telling, op: OpView): OpView => ({
  ...op,
  result: telling(op.result, op.input),
  ...(op.log && { log: telling(op.log, op.input) }),
})

/**
 * A token with a scope sees what is left of the cluster: the objects in its scope and those that they use. Kinds that
 * belong to no scope it does not see.
 */
function observed(access: Access, what: QueryResource, key: unknown, { config }: QuerySource): boolean {
  if (!access.limited || what === 'job' || what === 'os') return true
  return describe(config, what, String(key)) !== undefined
}

function refuseUnknown(what: QueryResource, fields: readonly string[]): void {
  const { fields: described } = queryFields(what, fields)
  const unknown = described.filter(({ kind }) => kind === 'unknown')
  if (unknown.length > 0)
    throw new OpPrereqError(`Unknown fields of ${what}: ${unknown.map(({ name }) => name).join(', ')}`, ECODE.INVAL)
}
