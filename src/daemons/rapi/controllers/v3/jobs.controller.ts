// Requests of /3 about jobs.
import {
  Body,
  Delete,
  Get,
  Header,
  Patch,
  Path,
  Post,
  Query,
  Response,
  Route,
  Security,
  SuccessResponse,
  Tags,
} from '../../../../http/decorators'
import { ALL_JOB_PARTS, type Job, type JobPart, jobFields, jobOf } from '../../../../query/job-shape'
import { priorityBody } from '../../v3/bodies'
import { readJobRequest } from '../../v3/job-request'
import { badRequest } from '../../../../http/errors'
import { type JobAccepted, submit } from '../../v3/submission'
import { V3Resource } from './resource'

/** One page of what was asked for. */
export interface JobPage {
  items: Job[]
  /** The value of `after` for the next page; null on the last one. */
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

/** The changes of a job. */
export interface JobPriority {
  /** From -20, the most urgent, to 19. @isInt */
  priority: number
}

/** The result of a request to change a job. */
export interface JobChanged {
  done: boolean
  /** Tells what was done, or why nothing could be done. */
  message: string
}

/** Whether the job was cancelled. */
export interface JobCancelled {
  cancelled: boolean
  /** Tells what was done, or why nothing could be done. */
  message: string
}

@Route('3/jobs')
@Tags('jobs')
@Security('basic')
@Security('bearer')
export class JobsV3Controller extends V3Resource {
  /**
   * Jobs that are not archived: one page of them, in the order of their ids.
   * @param include More of each opcode, separated by commas: `result`, `error`, `log`, `input`.
   * @param filter A filter of the query language as JSON: `["==", "status", "running"]`, or `["=[]", "objects", "instance/vm1"]` for
   *   the jobs that are about an object.
   * @param sort The field to sort by, with a minus before it for the other direction: `-id` for the newest first.
   * @param limit Objects on a page: 100 when left out, 1000 at most.
   * @param after The `next` of the page before.
   */
  @Get('')
  async list(
    @Query() include?: string,
    @Query() filter?: string,
    @Query() sort?: string,
    @Query() limit?: number,
    @Query() after?: string,
  ): Promise<JobPage> {
    const parts = readParts(include)
    const request = { what: 'job', shown: jobFields(parts), fields: undefined, filter, sort, limit, after } as const
    const { items, next } = await this.page<Record<string, unknown>>(request)
    return { items: items.map((row) => jobOf(row, parts)), next }
  }

  /** One job with the state, log and result of each of its opcodes. */
  @Get('{id}')
  async get(@Path() id: number): Promise<Job> {
    const row = await this.one<Record<string, unknown>>('job', String(id), jobFields(ALL_JOB_PARTS), undefined)
    return jobOf(row, ALL_JOB_PARTS)
  }

  /**
   * Submits a job. Answers at once, or with the job when it ends in the time that `Prefer` says; `Location` says where to see how it
   * goes.
   * @param key Makes the submission happen once, however often it is sent: within 24 hours, the same key with the same body gets the
   *   first answer again. At most 255 bytes.
   * @param ifMatch ETags of objects that must not have changed, neither now nor when the job has its locks.
   * @param prefer `wait=10` waits so many seconds for the end of the job, 120 at most.
   */
  @Post('')
  @SuccessResponse(202, 'Accepted')
  @Response<Job>(200, 'The job has ended in time')
  async submit(
    @Body() body: JobRequest,
    @Header('Idempotency-Key') key?: string,
    @Header('If-Match') ifMatch?: string,
    @Header('Prefer') prefer?: string,
  ): Promise<JobAccepted> {
    const { ops, reason, plan } = readJobRequest(body)
    return submit(this.v3, { ops, reason, plan, key, ifMatch, prefer }, () => this.context.signal)
  }

  /** Cancels a job that waits. One that runs is told, and stops if it can. */
  @Delete('{id}')
  async cancel(@Path() id: number): Promise<JobCancelled> {
    const { identity, gantry } = this.v3
    const [cancelled, message] = await gantry.cancel(identity, id)
    return { cancelled, message }
  }

  /** Changes the priority of what has not begun of a job. */
  @Patch('{id}')
  async change(@Path() id: number, @Body() body: JobPriority): Promise<JobChanged> {
    const { identity, gantry } = this.v3
    const [done, message] = await gantry.changePriority(identity, id, priorityBody.read(body).priority)
    return { done, message }
  }

  /** Puts a job that has ended into the archive: it leaves the lists, and can still be read by its id. */
  @Post('{id}/archive')
  async archive(@Path() id: number): Promise<JobChanged> {
    const { identity, gantry } = this.v3
    const [done, message] = await gantry.archive(identity, id)
    return { done, message }
  }
}

function readParts(text: string | undefined): JobPart[] {
  const names = text === undefined ? [] : text.split(',').map((name) => name.trim())
  return names.map((name) => {
    const part = ALL_JOB_PARTS.find((known) => known === name)
    if (part === undefined) throw badRequest(`include: there is no '${name}', only ${ALL_JOB_PARTS.join(', ')}`)
    return part
  })
}
