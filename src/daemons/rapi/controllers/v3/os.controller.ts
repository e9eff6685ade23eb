// Requests of /3 about operating systems.
import {
  Body,
  Header,
  Patch,
  Path,
  Query,
  Response,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from '../../../../http/decorators'
import type { Job } from '../../../../query/job-shape'
import { osChange } from '../../v3/os-change'
import { type JobAccepted, submit } from '../../v3/submission'
import { V3Resource } from './resource'

/** Settings of an operating system to change. Settings that are left out stay. */
export interface OsChanges {
  /** By hypervisor, its parameters for instances with this system. Null removes one parameter, or all of a hypervisor. */
  hvparams?: { [hypervisor: string]: { [parameter: string]: unknown } }
  /** Null removes a parameter. */
  osparams?: { [parameter: string]: unknown }
  /** Not shown in logs and answers. */
  osparams_private?: { [parameter: string]: unknown }
  /** Not shown in lists, but usable. */
  hidden?: boolean
  /** Not usable for new instances. */
  blacklisted?: boolean
}

@Route('3/os')
@Tags('os')
@Security('basic')
@Security('bearer')
export class OsV3Controller extends V3Resource {
  /**
   * Changes the cluster's settings of an operating system, with a job of OP_CLUSTER_SET_PARAMS.
   * @param key Makes the submission happen once, however often it is sent. At most 255 bytes.
   * @param ifMatch ETags of objects that must not have changed.
   * @param prefer `wait=10` waits that many seconds for the end of the job, at most 120.
   * @param reason Why this is done. It is kept in the reason trail of the job.
   * @param plan The id of a plan for this request, made with `POST /3/plans`. The request is refused if anything that the plan has read has
   * changed since.
   */
  @Patch('{name}')
  @SuccessResponse(202, 'Accepted')
  @Response<Job>(200, 'The job ended within the time')
  change(
    @Path() name: string,
    @Body() body: OsChanges,
    @Header('Idempotency-Key') key?: string,
    @Header('If-Match') ifMatch?: string,
    @Header('Prefer') prefer?: string,
    @Query() reason?: string,
    @Query() plan?: string,
  ): Promise<JobAccepted> {
    const ops = [osChange(name, body)]
    const submission = { ops, reason: reason ?? null, plan: plan ?? null, key, ifMatch, prefer }
    return submit(this.v3, submission, () => this.context.signal)
  }
}
