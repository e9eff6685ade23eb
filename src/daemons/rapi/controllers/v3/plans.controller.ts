import { Body, Post, Route, Security, Tags } from '@tsoa/runtime'
import type { Plan } from '../../../../rpc/luxi/plan'
import { badRequest } from '../../errors'
import { readJobRequest } from '../../v3/job-request'
import type { AnyOpcode } from './jobs.controller'
import { V3Resource } from './resource'

/** A job to be planned. */
export interface PlanOfJob {
  /** As they would be carried out one after the other. */
  ops: AnyOpcode[]
  /** Why; a plan does not keep it. */
  reason?: string
}

@Route('3/plans')
@Tags('jobs')
@Security('basic')
@Security('bearer')
export class PlansV3Controller extends V3Resource {
  /**
   * What a job would do, without doing it: its locks, prerequisites, hooks, and the objects that would change. Within 15 minutes a
   * submission of the same opcodes by the same user can name the plan; it is carried out only if what the plan has read is as it was.
   * Plans do not outlive the master's daemons: a submission whose plan is not known is refused with 412, and a new plan is to be made.
   */
  @Post('')
  plan(@Body() body: PlanOfJob): Promise<Plan> {
    const { ops, plan } = readJobRequest(body)
    if (plan !== null) throw badRequest('plan: only a submission names a plan')
    return this.v3.gantry.plan(this.v3.identity, { ops })
  }
}
