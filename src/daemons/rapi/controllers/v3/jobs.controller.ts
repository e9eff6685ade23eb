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

/** One page of jobs. */
export interface JobPage {
  items: Job[]
  /** The value of `after` for the next page; null on the last one. */
  next: string | null
}

/** One step of a job: an `OP_ID` and the opcode's parameters. */
export interface AnyOpcode {
  OP_ID: string
  [parameter: string]: unknown
}

/** A job to submit. */
export interface JobRequest {
  /** The steps, which are done one after the other. The first one that fails ends the job. */
  ops: AnyOpcode[]
  /** Why this is done. It is kept in the reason trail of the job. */
  reason?: string
  /** The id of a plan for the same opcodes. The job is refused if anything that the plan has read has changed since. */
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
  /** Says what was done, or why nothing could be done. */
  message: string
}

/** Whether the job was cancelled. */
export interface JobCancelled {
  cancelled: boolean
  /** Says what was done, or why nothing could be done. */
  message: string
}

@Route('3/jobs')
@Tags('jobs')
@Security('basic')
@Security('bearer')
export class JobsV3Controller extends V3Resource {
  /**
   * Jobs that are not archived: one page of them, in the order of their ids.
   * @param include More properties of each opcode, separated by commas: `result`, `error`, `log`, `input`.
   * @param filter A filter of the query language as JSON: `["==", "status", "running"]`, or `["=[]", "objects", "instance/vm1"]` for the
   * jobs that concern an object.
   * @param sort The field to sort by, with a minus in front for the other direction: `-id` for the newest first.
   * @param limit Jobs on a page: 100 by default, at most 1000.
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

  /** One job, with the state, log and result of each opcode. */
  @Get('{id}')
  async get(@Path() id: number): Promise<Job> {
    const row = await this.one<Record<string, unknown>>('job', String(id), jobFields(ALL_JOB_PARTS), undefined)
    return jobOf(row, ALL_JOB_PARTS)
  }

  /**
   * Submits a job. Answers at once, or with the ended job if it ends within the time that `Prefer` gives. `Location` is the address of the
   * job.
   * @param key Makes the submission happen once, however often it is sent: within 24 hours, the same key with the same body gets the first
   * answer again. At most 255 bytes.
   * @param ifMatch ETags of objects that must not have changed, neither now nor when the job has its locks.
   * @param prefer `wait=10` waits that many seconds for the end of the job, at most 120.
   */
  @Post('')
  @SuccessResponse(202, 'Accepted')
  @Response<Job>(200, 'The job ended within the time')
  async submit(
    @Body() body: JobRequest,
    @Header('Idempotency-Key') key?: string,
    @Header('If-Match') ifMatch?: string,
    @Header('Prefer') prefer?: string,
  ): Promise<JobAccepted> {
    const { ops, reason, plan } = readJobRequest(body)
    return submit(this.v3, { ops, reason, plan, key, ifMatch, prefer }, () => this.context.signal)
  }

  /** Cancels a waiting job. A running job is told to stop, and stops if it can. */
  @Delete('{id}')
  async cancel(@Path() id: number): Promise<JobCancelled> {
    const { identity, gantry } = this.v3
    const [cancelled, message] = await gantry.cancel(identity, id)
    return { cancelled, message }
  }

  /** Changes the priority of those opcodes of a job that have not begun. */
  @Patch('{id}')
  async change(@Path() id: number, @Body() body: JobPriority): Promise<JobChanged> {
    const { identity, gantry } = this.v3
    const [done, message] = await gantry.changePriority(identity, id, priorityBody.read(body).priority)
    return { done, message }
  }

  /** Puts an ended job into the archive. It leaves the lists, and can still be read by its id. */
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
