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

/** The cluster's settings of an operating system; those that are left out stay. */
export interface OsChanges {
  /** By hypervisor, parameters of its own for instances with this system; null takes one away, or all of a hypervisor. */
  hvparams?: { [hypervisor: string]: { [parameter: string]: unknown } }
  /** Null takes one away. */
  osparams?: { [parameter: string]: unknown }
  /** Kept out of logs and answers. */
  osparams_private?: { [parameter: string]: unknown }
  /** Not offered, but usable. */
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
   * Changes what the cluster says of an operating system, as a job of OP_CLUSTER_SET_PARAMS.
   * @param key Makes the submission happen once, however often it is sent. At most 255 bytes.
   * @param ifMatch ETags of objects that must not have changed.
   * @param prefer `wait=10` waits so many seconds for the end of the job, 120 at most.
   * @param reason Why this is done; kept in the reason trail of the job.
   * @param plan The id of a plan for this request, made with `POST /3/plans`: it is refused when what the plan has read is not as it was.
   */
  @Patch('{name}')
  @SuccessResponse(202, 'Accepted')
  @Response<Job>(200, 'The job has ended in time')
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
