// Requests of /2 about queries with fields and filters.
import { Body, Get, Path, Put, Query, Route, Security, Tags } from '../../../http/decorators'
import { KINDS } from '../../../model/permissions'
import type { FieldDefinition, QueryFilter, QueryResource } from '../../../rpc/luxi/calls'
import { badRequest } from '../../../http/errors'
import { bodyObject } from '../fill'
import { Needs } from '../read-permission'
import { TextAnswer } from '../tables'
import { requiredList, Resource } from './resource'

export interface QueryParams {
  /** Fields to show. */
  fields?: string[]
  /** `[operator, ...operands]`; see the query language of the design. */
  qfilter?: unknown[] | null
}

export interface QueryAnswer {
  fields: FieldDefinition[]
  /** One row for each object; each cell is `[status, value]`, status 0 for a normal value. */
  data: unknown[][][]
}

const MISSING = 'Missing %s query argument'

@Route('2/query')
@Tags('query')
export class QueryController extends Resource {
  /** Any fields of all objects of a kind. */
  @Get('{resource}')
  @Security('basic', ['write', 'read'])
  @Needs('query.all')
  query(@Path() resource: string, @Query() fields?: string): Promise<QueryAnswer> {
    return this.answer(resource, requiredList('fields', fields, MISSING), null)
  }

  /** Any fields of those objects that a filter selects. */
  @Put('{resource}')
  @Security('basic', ['write', 'read'])
  @Needs('query.all')
  filtered(@Path() resource: string, @Query() fields?: string, @Body() body?: QueryParams): Promise<QueryAnswer> {
    const input = bodyObject(body)
    const desired = input['fields'] ?? requiredList('fields', fields, MISSING)
    if (!Array.isArray(desired)) throw badRequest("The 'fields' parameter should be a list")
    const filter = input['qfilter'] ?? input['filter'] ?? null
    if (!isFilter(filter)) throw badRequest("The 'qfilter' parameter should be a list")
    return this.answer(resource, desired.map(String), filter)
  }

  /** Passes the answer on as the text that the master wrote. */
  private async answer(resource: string, fields: readonly string[], filter: QueryFilter): Promise<QueryAnswer> {
    const kind = KINDS.get(resource)
    if (kind !== undefined) this.context.needNotTaken(`${kind}.query`)
    const text = await this.master.text.query(asResource(resource), fields, filter)
    return new TextAnswer(text) as unknown as QueryAnswer
  }

  /** Describes the fields of a kind of object. */
  @Get('{resource}/fields')
  @Needs('query.all')
  fields(@Path() resource: string, @Query() fields?: string): Promise<{ fields: FieldDefinition[] }> {
    return this.master.queryFields(asResource(resource), fields?.split(',') ?? null)
  }
}

const isFilter = (value: unknown): value is QueryFilter => value === null || Array.isArray(value)

/** Any name is passed to the master, which knows the kinds and refuses others in its own words. The cast satisfies the compiler. */
const asResource = (name: string) => name as QueryResource
