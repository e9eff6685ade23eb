// The steps that the controllers of /3 share: pages of objects, single objects with their ETag, and the caller's identity.
import { isDeeper } from '../../../../lib/text/json-depth'
import { FILTER_DEPTH_MAX } from '../../../../model/limits/queries'
import { VIEW_PAGE_DEFAULT, VIEW_PAGE_MAX } from '../../../../model/limits/rapi-v3'
import type { QueryFilter, QueryResource } from '../../../../rpc/luxi/calls'
import type { Precondition, ViewSort } from '../../../../rpc/luxi/gantry'
import type { RapiContext, V3Request } from '../../context'
import { badRequest, HttpError } from '../../../../http/errors'
import { etag } from '../../v3/if-match'

interface PageRequest {
  readonly what: QueryResource
  /** The fields that are shown by default. */
  readonly shown: readonly string[]
  readonly fields: string | undefined
  readonly filter: string | undefined
  /** The field to sort by, with a minus in front for the other direction. */
  readonly sort?: string
  /** Whether nodes' last answers are shown instead of asking them. The default is true if no fields are named. */
  readonly known?: boolean
  readonly limit: number | undefined
  readonly after: string | undefined
}

interface Page<View> {
  items: View[]
  next: string | null
}

/** Kinds whose objects have a serial number. */
const VERSIONED: ReadonlySet<string> = new Set<Precondition['kind']>(['instance', 'node', 'group', 'network'])

export abstract class V3Resource {
  protected readonly v3: V3Request

  constructor(protected readonly context: RapiContext) {
    if (context.v3 === undefined) throw new Error('a controller of /3 serves a request to another door')
    this.v3 = context.v3
  }

  protected async page<View>(request: PageRequest): Promise<Page<View>> {
    const { what, shown: displayed } = request
    const limit = readLimit(request.limit)
    const fields = readFields(request.fields) ?? displayed
    const filter = readFilter(request.filter)
    const after = readCursor(what, request.after)
    const { identity, gantry } = this.v3
    const { known = request.fields === undefined } = request
    const sort = readSort(request.sort)
    const { rows, next } = await gantry.view(identity, { what, name: null, fields, filter, sort, after, limit, known })
    const items = rows.map((row) => viewOf<View>(fields, row))
    return { items, next: cursorOf(what, next) }
  }

  protected async one<View>(
    what: QueryResource,
    name: string,
    displayed: readonly string[],
    named: string | undefined,
  ): Promise<View> {
    const fields = readFields(named) ?? displayed
    const { identity, gantry, reply } = this.v3
    const more = VERSIONED.has(what) ? ['uuid', 'serial_no'] : []
    const known = named === undefined
    const request = { what, name, fields: [...more, ...fields], filter: null, sort: null, after: null, limit: 1, known }
    const { rows } = await gantry.view(identity, request)
    const row = rows[0] ?? []
    if (more.length > 0) reply.headers['ETag'] = etag(what, row[0], row[1])
    return viewOf<View>(fields, row.slice(more.length))
  }
}

function readFields(text: string | undefined): string[] | undefined {
  if (text === undefined) return undefined
  const fields = text.split(',').map((field) => field.trim())
  if (fields.includes('')) throw badRequest('fields: a name is empty')
  return [...new Set(fields)]
}

function readSort(text: string | undefined): ViewSort | null {
  if (text === undefined) return null
  const field = text.replace(/^-/, '')
  if (field === '') throw badRequest('sort: names no field')
  return { field, descending: field !== text }
}

function readFilter(text: string | undefined): QueryFilter {
  if (text === undefined) return null
  try {
    const filter: unknown = JSON.parse(text)
    if (filter === null || Array.isArray(filter)) return checkedDepth(filter)
  } catch (error) {
    if (error instanceof HttpError) throw error
  }
  throw badRequest('filter: must be a JSON array of the query language, like ["==", "name", "vm1"]')
}

/** A filter that is nested too deep cannot be passed on. A condition is an array inside the deepest operator. */
function checkedDepth(filter: unknown[] | null): QueryFilter {
  if (!isDeeper(filter, FILTER_DEPTH_MAX + 1)) return filter
  throw badRequest(`filter: is nested deeper than ${FILTER_DEPTH_MAX} levels`)
}

export function readLimit(limit = VIEW_PAGE_DEFAULT): number {
  if (limit < 1 || limit > VIEW_PAGE_MAX) throw badRequest(`limit: must be from 1 to ${VIEW_PAGE_MAX}`)
  return limit
}

type List = QueryResource | 'monitoring' | 'tags' | 'events'

/** Encodes the name of the list with the last object of the page, so that a cursor fits only its own list. */
export const cursorOf = (what: List, last: string | null): string | null =>
  last === null ? null : Buffer.from(`${what}/${last}`).toString('base64url')

export function readCursor(what: List, text: string | undefined): string | null {
  if (text === undefined) return null
  const last = Buffer.from(text, 'base64url')
    .toString('utf8')
    .slice(what.length + 1)
  if (last === '' || cursorOf(what, last) !== text) throw badRequest('after: not the `next` of a page of this list')
  return last
}

/** The names of the fields are those of the view's interface, which is generated from the same table. */
const viewOf = <View>(fields: readonly string[], row: readonly unknown[]): View =>
  Object.fromEntries(fields.map((field, index) => [field, row[index] ?? null])) as View
