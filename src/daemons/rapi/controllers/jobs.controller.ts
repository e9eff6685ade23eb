// Requests of /2 about jobs.
import { Delete, Get, Path, Query, Route, Security, Tags } from '../../../http/decorators'
import type { JobObject, JobSummary } from '../../../generated/resource-views'
import { badRequest, notFound } from '../../../http/errors'
import { JOB_BULK_FIELDS, JOB_FIELDS, JOB_LIST_COLUMNS } from '../fields'
import { bodyObject } from '../fill'
import { Needs } from '../read-permission'
import { listOf } from '../tables'
import { oneRow, Resource, rowObject, type Row } from './resource'
import { RAPI_JOB_CHANGE_S } from '../../../model/limits/rapi'

/** A job by its id, and the address where the details are. */
export interface JobLink {
  id: number
  uri: string
}

/** The parts that have changed. */
export interface JobChanges {
  /** The values of the requested fields. */
  job_info: unknown[]
  /** `[serial number, [seconds, microseconds], type, message]` of each new line of the log. */
  log_entries: unknown[][]
}

@Route('2/jobs')
@Tags('jobs')
export class JobsController extends Resource {
  /** Jobs that are not archived: ids, or with `bulk` all facts about them. */
  @Get('')
  @Needs('jobs.list')
  async list(@Query() bulk = 0): Promise<JobLink[] | JobSummary[]> {
    if (bulk !== 0) return listOf<JobSummary>(JOB_LIST_COLUMNS, this.master.text.queryJobs(null, JOB_BULK_FIELDS))
    const rows = await this.master.queryJobs(null, ['id'])
    return rows.flatMap((row) => (row === null ? [] : { id: Number(row[0]), uri: `/2/jobs/${String(row[0])}` }))
  }

  /** One job with its log and results. For an unknown job, everything except the id is null. */
  @Get('{id}')
  @Needs('jobs.query')
  async get(@Path() id: number): Promise<JobObject> {
    return rowObject(JOB_FIELDS, await oneRow(this.master.queryJobs([id], JOB_FIELDS)))
  }

  /** Cancels a waiting job. Returns whether that was possible, and if not, why. */
  @Delete('{id}')
  @Security('basic', ['write'])
  cancel(@Path() id: number): Promise<unknown[]> {
    this.context.need('jobs.cancel')
    return this.master.cancelJob(id, false)
  }

  /**
   * Waits up to ten seconds for the job to change. Null if it did not change.
   *
   * Takes a JSON body, which OpenAPI cannot describe for a GET: `fields`, whose change ends the wait, their last known values in
   * `previous_job_info`, and `previous_log_serial`.
   */
  @Get('{id}/wait')
  @Security('basic', ['write'])
  @Needs('jobs.wait')
  async wait(@Path() id: number): Promise<JobChanges | null> {
    const input = bodyObject(this.context.body ?? {})
    const fields = input['fields']
    if (fields === undefined) throw badRequest("Required parameter 'fields' is missing")
    if (!isTextList(fields)) throw badRequest("The 'fields' parameter should be a list")
    const previous = input['previous_job_info'] ?? null
    if (previous !== null && !Array.isArray(previous))
      throw badRequest("The 'previous_job_info' parameter should be a list")
    const serial = input['previous_log_serial'] ?? null
    if (serial !== null && !Number.isInteger(serial))
      throw badRequest("The 'previous_log_serial' parameter should be a number")
    const change = await this.master.waitForJobChange(id, fields, previous, serial, RAPI_JOB_CHANGE_S)
    if (change === 'nochange') return null
    if (!change) throw notFound()
    const [info, log]: readonly [Row, readonly unknown[]] = change
    return { job_info: [...info], log_entries: log.map(logEntry) }
  }
}

const logEntry = (entry: unknown): unknown[] => (Array.isArray(entry) ? entry : [entry])

const isTextList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((entry) => typeof entry === 'string')
