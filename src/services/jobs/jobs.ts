// Jobs as the doors see them: submission, cancelling, archiving, and waiting for a change without polling.
import type { Execution } from '../../jobs/execution'
import { type Job, isFinished, jobStatus, logAfter } from '../../jobs/job'
import type { Submission } from '../../jobs/queue'
import { PATH } from '../../model/constants/paths'
import { GenericError, JobLost, QUEUE_DRAINED } from '../../model/errors'
import { JOB_CANCEL_WAIT_S, JOB_CHANGE_WAIT_S } from '../../model/limits/queue'
import { readNote, unfinishedUpgrade } from '../../model/upgrade-note'
import type { ConfigData } from '../../model/config'
import { jobResource } from '../../query/fields/job'
import type { JobChange, JobId, WireOpCode } from '../../rpc/luxi/calls'
import { jobView } from './job-views'
import type { MasterContext } from '../master-context'

export class JobService {
  constructor(private readonly context: MasterContext) {}

  async submit(ops: readonly WireOpCode[], toDrainedQueue: boolean): Promise<JobId> {
    if (!toDrainedQueue && this.context.queue.drained) throw await this.drained()
    const [result] = await this.context.queue.submit([ops])
    if (result !== undefined && 'id' in result) return result.id
    throw new GenericError(result?.error ?? 'the job was not submitted')
  }

  /** Relative dependencies count all submitted jobs, also refused ones, as the caller numbered them. */
  async submitMany(jobs: readonly (readonly WireOpCode[])[]): Promise<([true, JobId] | [false, string])[]> {
    if (this.context.queue.drained) throw await this.drained()
    return (await this.context.queue.submit(jobs)).map(submitted)
  }

  /**
   * Resolves when fields or log differ from the given ones, when the job has ended, or with the present state after the
   * time.
   */
  async waitForChange(
    id: JobId,
    fields: readonly string[],
    previous: unknown,
    previousLog: unknown,
    timeout_s: number,
  ): Promise<JobChange> {
    const { queue, clock } = this.context
    let job = queue.job(id) ?? (await queue.find(id))
    if (job === undefined) throw new JobLost("Can't load job file")
    const observed = JSON.stringify(previous) ?? 'null'
    const serial = typeof previousLog === 'number' ? previousLog : null
    const look = (at: Job): JobChange => [fieldsOf(at, () => this.context.config(), fields), logAfter(at, serial)]
    const news = (at: Job) => {
      const [row, log] = look(at)
      return isFinished(at) || log.length > 0 || JSON.stringify(row) !== observed
    }
    if (news(job) || timeout_s <= 0 || isFinished(job)) return look(job)
    await new Promise<void>((resolve) => {
      const stop = queue.subscribe(id, (changed) => {
        job = changed
        if (news(changed)) end()
      })
      const timer = clock.after(Math.min(timeout_s, JOB_CHANGE_WAIT_S) * 1000, end, { background: true })
      function end() {
        stop()
        timer.cancel()
        resolve()
      }
    })
    return look(job)
  }

  async cancel(id: JobId, kill: boolean): Promise<[boolean, string]> {
    const outcome = await this.context.queue.cancel(id)
    const unknown: [boolean, string] = [false, `Job ${id} not found in queue`]
    if (outcome === 'unknown') return unknown
    if (outcome === 'dequeued') return [true, `Dequeued job ${id}`]
    const job = this.context.queue.job(id)
    if (job === undefined || isFinished(job)) return unknown
    if (kill) {
      outcome.execution.kill()
      return [true, 'SIGKILL send to the process']
    }
    outcome.execution.cancel()
    if (jobStatus(job) === 'running') return [false, "Job no longer waiting, can't cancel (informed it anyway)"]
    return this.awaitCancellation(id, outcome.execution)
  }

  /** Resolves to the job when it has ended, when the time is over, or when `other` resolves. Undefined if the job is gone. */
  async whenEnded(id: JobId, limit_s: number, other?: Promise<unknown>): Promise<Job | undefined> {
    const { queue, clock } = this.context
    const now = queue.known(id)
    if (now !== undefined && !isFinished(now) && limit_s > 0)
      await new Promise<void>((resolve) => {
        const stop = queue.subscribe(id, (job) => {
          if (isFinished(job)) end()
        })
        const timer = clock.after(limit_s * 1000, end, { background: true })
        void other?.then(end)
        function end() {
          stop()
          timer.cancel()
          resolve()
        }
      })
    return queue.find(id)
  }

  async changePriority(id: JobId, priority: number): Promise<[boolean, string]> {
    const result = await this.context.queue.setPriority(id, priority)
    if (result === 'unknown') return [false, `Job ${id} not found in queue`]
    if (result === 'queued')
      return [true, `Priorities of pending opcodes for job ${id} have been changed to ${priority}`]
    return [true, `Job ${id} with pid ${result.pid} signaled`]
  }

  archive(id: JobId): Promise<boolean> {
    return this.context.queue.archive(id)
  }

  /** Archives jobs that ended longer ago than `age_s`, oldest first; a negative age means all ended jobs. */
  async autoArchive(age_s: number, timeout_s: number): Promise<[archived: number, left: number]> {
    const { queue, clock } = this.context
    const limit_s = clock.now_ms() / 1000 - age_s
    const old = queue.all().filter((job) => isFinished(job) && (age_s < 0 || endOf(job) < limit_s))
    const deadline_ms = clock.monotonic_ms() + timeout_s * 1000
    let archived = 0
    let looked = 0
    for (const { id } of old) {
      if (clock.monotonic_ms() >= deadline_ms) break
      looked++
      if (await queue.archive(id)) archived++
    }
    return [archived, old.length - looked]
  }

  async setDrainFlag(flag: boolean): Promise<boolean> {
    await this.context.queue.setDrained(flag)
    return true
  }

  /** Explains why the queue is drained, so that nobody opens it while daemons are being upgraded. */
  private async drained(): Promise<GenericError> {
    const { disk, paths } = this.context
    const upgrade = readNote((await disk.read(paths.local(PATH.INTENT_TO_UPGRADE)))?.toString('utf8'))
    return new GenericError(upgrade === undefined ? QUEUE_DRAINED : `${QUEUE_DRAINED}: ${unfinishedUpgrade(upgrade)}`)
  }

  private async awaitCancellation(id: JobId, execution: Execution): Promise<[boolean, string]> {
    const job = await this.whenEnded(id, JOB_CANCEL_WAIT_S, execution.done)
    const status = job === undefined ? 'gone' : jobStatus(job)
    const displayed = `status JOB_STATUS_${status.toUpperCase()}`
    if (status === 'canceled') return [true, 'Job successfully cancelled']
    if (job === undefined || isFinished(job))
      return [false, `Job exited before it could have been canceled, ${displayed}`]
    return [false, `Job could not be canceled, ${displayed}`]
  }
}

function submitted(result: Submission): [true, JobId] | [false, string] {
  return 'id' in result ? [true, result.id] : [false, result.error]
}

/** Unknown fields are null. */
function fieldsOf(job: Job, config: () => ConfigData, fields: readonly string[]): unknown[] {
  const row = { id: job.id, job: jobView(job, false), config }
  return fields.map((name) =>
    Object.hasOwn(jobResource.fields, name) ? (jobResource.fields[name]?.get(row)[1] ?? null) : null,
  )
}

function endOf(job: Pick<Job, 'end_timestamp' | 'received_timestamp'>): number {
  const [seconds] = job.end_timestamp ?? job.received_timestamp ?? [0]
  return seconds
}
