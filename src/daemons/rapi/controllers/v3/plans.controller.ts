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
interface PlannedRequest {
  method: 'POST' | 'PATCH' | 'DELETE'
  /** The path of the request: `/3/instances/vm1/migrate`. */
  path: string
  body?: { [parameter: string]: unknown }
}

/** A job to plan: either its opcodes, or the request that would submit it. */
export interface PlanOfJob {
  /** The opcodes, in the order in which they would be done. */
  ops?: AnyOpcode[]
  /**
   * Each opcode is for a job of its own, so none waits for another or is stopped by it. Single submissions name the plan. Objects that
   * another opcode of the plan changes may have changed.
   */
  apart?: boolean
  request?: PlannedRequest
  /** Why this is done. The plan does not keep it. */
  reason?: string
}

@Route('3/plans')
@Tags('jobs')
@Security('basic')
@Security('bearer')
export class PlansV3Controller extends V3Resource {
  /**
   * Says what a job would do, without doing it: its locks, prerequisites, hooks, and the objects that would change. Within 15 minutes, a
   * submission of the same opcodes by the same user can name the plan. It is carried out only if nothing that the plan has read has
   * changed. The plan of a `request` is valid for that request, which names it in its argument `plan`. Plans are lost when the master's
   * daemons restart: a submission with an unknown plan is refused with 412, and a new plan is needed.
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
  if (unknown !== undefined) throw badRequest(`${unknown}: not allowed beside request, which stands for one opcode`)
  return { ops: [opcodeOfRequest(request)] }
}
