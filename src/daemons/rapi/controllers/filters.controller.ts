// Requests of /2 about filter rules.
import { Body, Delete, Get, Path, Post, Put, Query, Route, Security, Tags } from '../../../http/decorators'
import type { FilterObject } from '../../../generated/resource-views'
import { isUuid } from '../../../model/ids'
import type { Identity } from '../../../rpc/luxi/gantry'
import type { GantryMaster } from '../../../rpc/luxi/gantry-calls'
import { badRequest } from '../../../http/errors'
import { identityOf } from '../users'
import { FILTER_FIELDS } from '../fields'
import { parametersIn, wrongType } from '../fill'
import { Needs } from '../read-permission'
import { links, oneRow, Resource, rowObject, type Row } from './resource'

export interface FilterParams {
  /** Rules with lower numbers are applied first. */
  priority?: number
  /** `[kind, filter]` of each predicate. The rule applies if all of them match. */
  predicates?: unknown[][]
  /** ACCEPT, PAUSE, REJECT, CONTINUE, or `["RATE_LIMIT", jobs]`. */
  action?: 'ACCEPT' | 'PAUSE' | 'REJECT' | 'CONTINUE' | unknown[]
  /** Why the rule exists: `[source, text, nanoseconds]` entries. */
  reason?: unknown[][]
}

/** A rule by its uuid, and the address where the details are. */
export interface RuleLink {
  uuid: string
  uri: string
}

@Route('2/filters')
@Tags('filters')
export class FiltersController extends Resource {
  /** Filter rules of the job queue: uuids, or with `bulk` everything. */
  @Get('')
  @Needs('filter.list')
  async list(@Query() bulk = 0): Promise<RuleLink[] | FilterObject[]> {
    if (bulk === 0) return ruleLinks(await this.master.queryFilters(null, ['uuid']))
    const rows = await this.master.queryFilters(null, FILTER_FIELDS)
    return rows.map((row) => rowObject<FilterObject>(FILTER_FIELDS, row))
  }

  /** Adds a rule. Returns its uuid. */
  @Post('')
  @Security('basic', ['write'])
  create(@Body() body?: FilterParams): Promise<string> {
    return this.replaceRule(null, body)
  }

  /** One rule. */
  @Get('{uuid}')
  @Needs('filter.query')
  async get(@Path() uuid: string): Promise<FilterObject> {
    return rowObject(FILTER_FIELDS, await oneRow(this.master.queryFilters([uuid], FILTER_FIELDS)))
  }

  /** Replaces a rule, or creates it with this uuid. */
  @Put('{uuid}')
  @Security('basic', ['write'])
  replace(@Path() uuid: string, @Body() body?: FilterParams): Promise<string> {
    return this.replaceRule(uuid, body)
  }

  /** Removes a rule. */
  @Delete('{uuid}')
  @Security('basic', ['write'])
  async remove(@Path() uuid: string): Promise<null> {
    this.context.need('filter.remove')
    await oneRow(this.master.queryFilters([uuid], ['uuid']))
    const { caller, master } = this
    return caller === undefined ? master.deleteFilter(uuid) : caller.gantry.deleteFilter(caller.identity, uuid)
  }

  /** The caller, if the master can be asked in its name. */
  private get caller(): { identity: Identity; gantry: GantryMaster } | undefined {
    const { user } = this.context
    const { gantry } = this.master
    return user === undefined || gantry === undefined ? undefined : { identity: identityOf(user), gantry }
  }

  private replaceRule(uuid: string | null, body: FilterParams | undefined): Promise<string> {
    if (uuid !== null && !isUuid(uuid)) throw badRequest(`Invalid UUID: ${JSON.stringify(uuid)}`)
    const input = parametersIn(body)
    for (const name of Object.keys(input))
      if (!['priority', 'predicates', 'action', 'reason'].includes(name))
        throw badRequest(`Invalid body parameters: filter rule doesn't support the parameter '${name}'`)
    const { priority = 0, predicates = [], action = 'CONTINUE', reason = [] } = input
    if (typeof priority !== 'number') throw wrongType("'priority' parameter", priority, 'int')
    if (!Array.isArray(predicates)) throw wrongType("'predicates' parameter", predicates, 'list')
    if (!Array.isArray(reason)) throw wrongType("'reason' parameter", reason, 'list')
    this.context.need(uuid === null ? 'filter.create' : 'filter.modify')
    const rule = [uuid, priority, predicates, action, reason] as const
    const { caller, master } = this
    return caller === undefined ? master.replaceFilter(...rule) : caller.gantry.replaceFilter(caller.identity, ...rule)
  }
}

const ruleLinks = (rows: readonly (Row | null)[]): RuleLink[] =>
  links(
    rows.filter((row) => row !== null),
    '/2/filters',
  ).map(({ id, uri }) => ({ uuid: id, uri }))
