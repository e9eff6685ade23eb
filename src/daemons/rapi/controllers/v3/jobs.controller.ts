import { createHash } from 'node:crypto'
import { Body, Delete, Get, Header, Path, Post, Query, Route, Security, SuccessResponse, Tags } from '@tsoa/runtime'
import { JOB_VIEW, type JobView } from '../../../../generated/resource-views'
import { canonicalJson } from '../../../../lib/canonical-json'
import { IDEMPOTENCY_KEY_BYTES_MAX } from '../../../../model/limits'
import { readJobRequest } from '../../v3/job-request'
import { badRequest } from '../../errors'
import { JOB_DETAIL, jobDetail, type JobDetail } from '../../v3/job-detail'
import { readIfMatch, V3Resource } from './resource'

/** One page of what was asked for. */
export interface JobPage {
  items: JobView[]
  /** What to give as `after` for the next page; null on the last one. */
  next: string | null
}

/** One step of a job: the opcode's parameters beside its `OP_ID`. */
export interface AnyOpcode {
  OP_ID: string
  [parameter: string]: unknown
}

/** A job to be submitted. */
export interface JobRequest {
  /** Carried out one after the other; the first one that fails ends the job. */
  ops: AnyOpcode[]
  /** Why; kept in the reason trail of the job. */
  reason?: string
  /** The id of a plan for the same opcodes: the job is refused when what the plan has read is not as it was. */
  plan?: string | null
}

/** The job that was made. */
export interface JobAccepted {
  id: number
}

/** Whether the job was cancelled. */
export interface JobCancelled {
  cancelled: boolean
  /** What was done, or why nothing could be done. */
  message: string
}

@Route('3/jobs')
@Tags('jobs')
@Security('basic')
@Security('bearer')
export class JobsV3Controller extends V3Resource {
  /**
   * Jobs that are not archived: one page of them, in the order of their ids.
   * @param fields Names of fields, separated by commas; without it all but logs, results and opcodes.
   * @param filter A filter of the query language as JSON: `["==", "status", "running"]`.
   * @param limit Objects on a page: 100 when left out, 1000 at most.
   * @param after The `next` of the page before.
   */
  @Get('')
  list(
    @Query() fields?: string,
    @Query() filter?: string,
    @Query() limit?: number,
    @Query() after?: string,
  ): Promise<JobPage> {
    return this.page<JobView>({ what: 'job', shown: JOB_VIEW, fields, filter, limit, after })
  }

  /** One job with the state, log and result of each of its opcodes. */
  @Get('{id}')
  async get(@Path() id: number): Promise<JobDetail> {
    const row = await this.one<Record<string, unknown>>('job', String(id), JOB_DETAIL, undefined)
    return jobDetail(row)
  }

  /**
   * Submits a job. Answers at once; `Location` says where to see how it goes.
   * @param key Makes the submission happen once, however often it is sent: within 24 hours, the same key with the same body gets the
   *   first answer again. At most 255 bytes.
   * @param ifMatch ETags of objects that must not have changed, neither now nor when the job has its locks.
   */
  @Post('')
  @SuccessResponse(202, 'Accepted')
  async submit(
    @Body() body: JobRequest,
    @Header('Idempotency-Key') key?: string,
    @Header('If-Match') ifMatch?: string,
  ): Promise<JobAccepted> {
    const { ops, reason, plan } = readJobRequest(body)
    if (key !== undefined && (key === '' || Buffer.byteLength(key) > IDEMPOTENCY_KEY_BYTES_MAX))
      throw badRequest(`Idempotency-Key: must have from 1 to ${IDEMPOTENCY_KEY_BYTES_MAX} bytes`)
    const { identity, gantry, reply } = this.v3
    const digest = createHash('sha256')
      .update(canonicalJson(body))
      .update(ifMatch ?? '')
      .digest('hex')
    const request = { ops, reason, plan, key: key ?? null, digest, match: readIfMatch(ifMatch) }
    const { job, replayed } = await gantry.submit(identity, request)
    reply.status = 202
    reply.headers['Location'] = `/3/jobs/${job}`
    if (replayed) reply.headers['Idempotent-Replayed'] = 'true'
    return { id: job }
  }

  /** Cancels a job that waits. One that runs is told, and stops if it can. */
  @Delete('{id}')
  async cancel(@Path() id: number): Promise<JobCancelled> {
    const { identity, gantry } = this.v3
    const [cancelled, message] = await gantry.cancel(identity, id)
    return { cancelled, message }
  }
}
