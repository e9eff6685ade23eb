// Requests of /3 about plans of jobs.
import { Body, Post, Route, Security, Tags } from '../../../../http/decorators'
import { isObject } from '../../../../lib/shapes/shape'
import type { Plan, PlanRequest } from '../../../../rpc/luxi/plan'
import { badRequest } from '../../../../http/errors'
import { readJobRequest } from '../../v3/job-request'
import { opcodeOfRequest } from '../../v3/object-routes'
import type { AnyOpcode } from './jobs.controller'
import { V3Resource } from './resource'

/** A request of this API that would submit a job. */
export interface PlannedRequest {
  method: 'POST' | 'PATCH' | 'DELETE'
  /** As it would be sent: `/3/instances/vm1/migrate`. */
  path: string
  body?: { [parameter: string]: unknown }
}

/** A job to be planned: either its opcodes, or the request that would submit it. */
export interface PlanOfJob {
  /** As they would be carried out one after the other. */
  ops?: AnyOpcode[]
  /**
   * The opcodes are not the steps of one job, but each is for a job of its own: none waits for another or is stopped by it. Submissions of
   * single ones name the plan. What others of the plan change need not be as it was.
   */
  apart?: boolean
  request?: PlannedRequest
  /** Why; a plan does not keep it. */
  reason?: string
}

@Route('3/plans')
@Tags('jobs')
@Security('basic')
@Security('bearer')
export class PlansV3Controller extends V3Resource {
  /**
   * Tells what a job would do, without doing it: its locks, prerequisites, hooks, and the objects that would change. Within 15 minutes a
   * submission of the same opcodes by the same user can name the plan; it is carried out only if what the plan has read is as it was.
   * The plan of a `request` is good for that request, which names it in its argument `plan`.
   * Plans do not outlive the master's daemons: a submission whose plan is not known is refused with 412, and a new plan is to be made.
   */
  @Post('')
  plan(@Body() body: PlanOfJob): Promise<Plan> {
    return this.v3.gantry.plan(this.v3.identity, readPlan(body))
  }
}

function readPlan(body: unknown): PlanRequest {
  if (!isObject(body) || body['request'] === undefined) {
    const { apart = false, ...job } = isObject(body) ? body : {}
    if (typeof apart !== 'boolean') throw badRequest('apart: must be true or false')
    const { ops, plan } = readJobRequest(isObject(body) ? job : body)
    if (plan !== null) throw badRequest('plan: only a submission names a plan')
    return { ops, apart }
  }
  const { request, reason: _reason, ...others } = body
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw badRequest(`${unknown}: is not for the plan of a request, which has its one opcode`)
  return { ops: [opcodeOfRequest(request)] }
}
