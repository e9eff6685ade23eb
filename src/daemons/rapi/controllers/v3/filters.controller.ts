// Requests of /3 about filter rules.
import { Body, Delete, Path, Post, Put, Route, Security, SuccessResponse, Tags } from '../../../../http/decorators'
import { nanoseconds } from '../../../../lib/clock'
import { isUuid } from '../../../../model/ids'
import { badRequest } from '../../../../http/errors'
import { filterBody } from '../../v3/bodies'
import { V3Resource } from './resource'

/** A rule of the job queue. */
export interface FilterRequest {
  /** Rules with lower numbers are applied first. The default is 0. @isInt @minimum 0 */
  priority?: number
  /** `[kind, filter]` of each predicate. The kind is `jobid`, `opcode` or `reason`. The rule applies if all predicates match. */
  predicates?: unknown[][]
  /** `ACCEPT`, `PAUSE`, `REJECT`, `CONTINUE`, or `["RATE_LIMIT", jobs]`. The default is `CONTINUE`. */
  action?: 'ACCEPT' | 'PAUSE' | 'REJECT' | 'CONTINUE' | unknown[]
  /** Why the rule exists. */
  reason?: string | null
}

/** The new rule. */
export interface FilterMade {
  uuid: string
}

@Route('3/filters')
@Tags('filters')
@Security('basic')
@Security('bearer')
export class FiltersV3Controller extends V3Resource {
  /** Adds a rule to the job queue. */
  @Post('')
  @SuccessResponse(201, 'Created')
  async create(@Body() body: FilterRequest): Promise<FilterMade> {
    const made = await this.replace(null, body)
    this.v3.reply.status = 201
    this.v3.reply.headers['Location'] = `/3/filters/${made.uuid}`
    return made
  }

  /** Replaces a rule, or adds one with this uuid. */
  @Put('{name}')
  async change(@Path() name: string, @Body() body: FilterRequest): Promise<FilterMade> {
    if (!isUuid(name)) throw badRequest(`'${name}' is not a uuid`)
    return this.replace(name, body)
  }

  /** Removes a rule. */
  @Delete('{name}')
  @SuccessResponse(204, 'Removed')
  async remove(@Path() name: string): Promise<void> {
    await this.v3.gantry.deleteFilter(this.v3.identity, name)
    this.v3.reply.status = 204
  }

  private async replace(uuid: string | null, body: unknown): Promise<FilterMade> {
    const { identity, gantry, reply } = this.v3
    const { priority, predicates, action, reason } = filterBody.read(body)
    const now_ns = nanoseconds(this.context.services.clock)
    const trail = reason === null ? [] : [['gnt:user', reason, now_ns]]
    reply.status = 200
    return { uuid: await gantry.replaceFilter(identity, uuid, priority, predicates, action, trail) }
  }
}
