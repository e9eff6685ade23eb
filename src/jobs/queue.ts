// The queue inside luxid: every unfinished job in memory, a summary of the ended ones, the running jobs, and listeners for changes. A change
// is published only when it is durable. Each job ends exactly once; everything after its end is ignored.
import { nanoseconds, timestamp } from '../lib/clock'
import { GenericError, JobQueueFull, errorToWire } from '../model/errors'
import { JOBS_QUEUED_MAX, JOB_RETRY_S, OPCODES_PER_JOB_MAX } from '../model/limits/queue'
import { redactSecrets, secretsOf } from '../opcodes/summary'
import type { JobId, WireOpCode } from '../rpc/luxi/calls'
import { ArchivedJobs } from './archived-jobs'
import { type EndedJob, endedJob, WholeJobs } from './ended-jobs'
import { ofJob } from './dependencies'
import { JobListeners } from './job-listeners'
import { Execution } from './execution'
import { warnOfUnreadable } from './filters'
import { UnsettledAppend } from '../lib/file/unsettled-append'
import type { FilterRule } from '../model/filter-rule'
import { encodeJob } from './job-file'
import { JobIds } from './job-ids'
import { type Job, dependenciesOf, dequeued, heldBack, isFinished, newJob, rejected, withPriority } from './job'
import { type LostJobs, ownJobs } from './lost-jobs'
import type { OwnJobs } from '../rpc/node/missing-jobs'
import { takeBack, type TakenBack } from './take-back'
import type { QueueOptions } from './queue-options'
import type { Secrets } from './runner'
import { whyRefused } from './refused'
import { QueueQuota } from './queue-quota'
import { Scheduler } from './scheduler'

export type Submission = { id: JobId } | { error: string }
type Search = (own: Promise<OwnJobs>) => Promise<LostJobs>
export type CancelOutcome = 'dequeued' | 'unknown' | { readonly execution: Execution }

export class JobQueue {
  readonly archived: ArchivedJobs
  /** Jobs that have not ended, or that a process still handles. */
  private readonly jobs = new Map<JobId, Job>()
  private readonly ended = new Map<JobId, EndedJob>()
  private readonly whole = new WholeJobs()
  /** Jobs that are being written but not published. A candidate that gets a full copy now must get these too. */
  private readonly unpublished = new Map<JobId, Job>()
  private readonly executions = new Map<JobId, Execution>()
  private readonly secrets = new Map<JobId, Secrets>()
  private readonly scheduler = new Scheduler()
  private readonly room = new QueueQuota()
  private readonly listeners = new JobListeners()
  private readonly archiving = new Set<JobId>()
  private watcher: ((job: Job, before: Job | undefined) => void) | undefined
  private readonly jobIds: JobIds
  private maxRunning = 0
  private filters: readonly FilterRule[] = []
  private drainedFlag = false
  private closed = false
  private parked = false

  constructor(private readonly options: QueueOptions) {
    this.archived = new ArchivedJobs(options.store, this.whole)
    this.jobIds = new JobIds((id) => options.store.saveSerial(id), options.log)
  }

  get drained(): boolean {
    return this.drainedFlag
  }

  get lastJobId(): JobId {
    return this.jobIds.last
  }

  /** How many jobs will soon have something to write. */
  get busy(): number {
    return [...this.executions].filter(([id, { isYoung }]) => isYoung && !this.unpublished.has(id)).length
  }

  get sizes(): { readonly open: number; readonly begun: number; readonly ended: number } {
    return { open: this.jobs.size, begun: this.executions.size, ended: this.ended.size }
  }

  /** The number for the file `serial`: no other luxid gives out ids up to this one. */
  get serial(): JobId {
    return this.jobIds.serial
  }

  /**
   * Takes over an earlier luxid's jobs: finds the processes of running ones, and settles the rest. Before that it takes
   * back the jobs that `search` finds. Returns what was taken back.
   */
  async recover(search: Search = async () => ({ serial: 0, jobs: [] })): Promise<TakenBack[]> {
    const loading = this.options.store.load()
    const [{ jobs, ended, lastId, drained, holders }, found] = await Promise.all([
      loading,
      search(ownJobs(loading, this.options.store)),
    ])
    this.jobIds.recover(lastId)
    this.drainedFlag = drained
    for (const job of ended) this.ended.set(job.id, job)
    for (const job of jobs) {
      this.jobs.set(job.id, { ...job, ...holders.get(job.id) })
      this.room.note(job.id, inputsOf(job))
    }
    const taken = await this.takeBack(found)
    const open = [...this.jobs.values()]
    const isInProcess = (job: Job) => job.livelock !== undefined || job.ops.some((op) => op.status !== 'queued')
    const [inProcess, waiting] = [open.filter(isInProcess), open.filter((job) => !isInProcess(job))]
    for (const job of waiting) this.enqueue(job)
    await Promise.all(inProcess.map((job) => this.execution(job).adopt(job)))
    await this.options.store.removeDeadLivelocks()
    return taken
  }

  takeBack({ serial, jobs }: LostJobs): Promise<TakenBack[]> {
    this.jobIds.recover(serial)
    const busy = [this.ended, this.unpublished, this.scheduler, this.executions]
    return takeBack(jobs, {
      ...this.options,
      open: (id) => this.jobs.get(id),
      keepsOwn: (id) => busy.some((one) => one.has(id)),
      take: (job) => this.save(job).then(() => this.publish(job)),
    })
  }

  /** `filters` are sorted. No job starts before the first call. */
  configure(maxRunning: number, filters: readonly FilterRule[]): void {
    this.maxRunning = maxRunning
    if (filters !== this.filters) this.scheduler.filtersChanged()
    if (filters !== this.filters) warnOfUnreadable(filters, this.options.log)
    this.filters = filters
    this.schedule()
  }

  /** Resolves when durable. One answer per job; a full queue refuses all. Rejects if nobody knows whether a later luxid finds a job. */
  async submit(submitted: readonly (readonly WireOpCode[])[]): Promise<Submission[]> {
    await this.options.store.checkRoom()
    if (this.closed) throw new GenericError('luxid is stopping; try again in a moment')
    if (this.scheduler.size + submitted.length > JOBS_QUEUED_MAX) throw new JobQueueFull()
    const first = this.jobIds.last + 1
    this.room.take(first, submitted)
    const serial = this.jobIds.take(submitted.length)
    const saved = await Promise.all(submitted.map((ops, i) => this.accept(first + i, ops, serial)))
    for (const result of saved) if ('job' in result) this.admit(result.job)
    this.schedule()
    return saved.map((result) => ('job' in result ? { id: result.job.id } : result))
  }

  /** A job of the queue that is in memory; of the ended jobs only the last ones are. */
  job(id: JobId): Job | undefined {
    return this.jobs.get(id) ?? (this.ended.has(id) ? this.whole.get(id) : undefined)
  }

  /** The state in memory of any job in the queue. */
  known(id: JobId): Job | EndedJob | undefined {
    return this.jobs.get(id) ?? this.ended.get(id)
  }

  /** By id. */
  all(): (Job | EndedJob)[] {
    return [...this.jobs.values(), ...this.ended.values()].sort((a, b) => a.id - b.id)
  }

  /** Ids of all jobs that a copy of the queue needs. */
  ids(): JobId[] {
    return [...new Set([...this.ended.keys(), ...this.jobs.keys(), ...this.unpublished.keys()])]
  }

  /** For copies: a job's current or coming state, or an ended one's file. Undefined if it is archived by now. */
  async textOf(id: JobId): Promise<string | undefined> {
    const job = this.unpublished.get(id) ?? this.jobs.get(id)
    return job === undefined ? this.options.store.text(id) : encodeJob(job)
  }

  /** Finds a job in the queue or the archive. */
  async find(id: JobId): Promise<Job | undefined> {
    return (
      this.job(id) ??
      (this.ended.has(id) ? await this.options.store.read(id) : undefined) ??
      (await this.archived.one(id))
    )
  }

  /** Calls the listener after each change of the job. Returns a function that stops this. */
  subscribe(id: JobId, listener: (job: Job) => void): () => void {
    return this.listeners.add(id, listener)
  }

  /** Calls the watcher after each change of any job; `before` is undefined for a new one. */
  watch(watcher: (job: Job, before: Job | undefined) => void): void {
    this.watcher = watcher
  }

  /** Removes a job that has not started from the queue; otherwise returns its execution. */
  async cancel(id: JobId): Promise<CancelOutcome> {
    const execution = this.executions.get(id)
    if (execution) return { execution }
    const job = this.jobs.get(id)
    if (job === undefined || !this.scheduler.remove(id)) return 'unknown'
    await this.settle(dequeued(job, timestamp(this.options.clock)))
    return 'dequeued'
  }

  /** The pid of a running job, which was told; `queued` for a job that was changed here; or `unknown`. */
  async setPriority(id: JobId, priority: number): Promise<'queued' | 'unknown' | { pid: number }> {
    const execution = this.executions.get(id)
    if (execution) return { pid: execution.setPriority(priority) }
    const job = this.jobs.get(id)
    if (job === undefined || !this.scheduler.has(id)) return 'unknown'
    // It may have started meanwhile.
    if (!(await this.changeQueued(id, (one) => withPriority(one, priority)))) return this.setPriority(id, priority)
    return 'queued'
  }

  /** False if the job has not ended, or is not in the queue. Waits until its process is done with it. */
  async archive(id: JobId): Promise<boolean> {
    const job = this.known(id)
    if (job === undefined || !isFinished(job)) return false
    await this.executions.get(id)?.done
    if (this.archiving.has(id) || !this.ended.has(id)) return false
    this.archiving.add(id)
    try {
      // Callers find it in the queue until it is in the archive.
      await this.options.store.archive([id], () => this.ended.delete(id))
    } finally {
      this.archiving.delete(id)
    }
    return true
  }

  async setDrained(drained: boolean): Promise<void> {
    await this.options.store.setDrained(drained)
    this.drainedFlag = drained
  }

  /** Starts no more jobs, and takes back those that have done nothing yet. Returns the running ones. */
  async park(): Promise<JobId[]> {
    this.parked = true
    await Promise.all([...this.executions.values()].map((execution) => execution.takeBack()))
    return [...this.executions.keys()]
  }

  /** Running jobs go on without luxid. */
  async close(): Promise<void> {
    this.closed = true
    await Promise.all([...this.executions.values()].map((execution) => execution.leave()))
    await this.jobIds.release()
    await this.options.runner.close()
  }

  private async accept(
    id: JobId,
    submitted: readonly WireOpCode[],
    serial: Promise<void>,
  ): Promise<{ job: Job } | { error: string }> {
    try {
      if (submitted.length > OPCODES_PER_JOB_MAX) throw new GenericError(`More than ${OPCODES_PER_JOB_MAX} opcodes`)
      const { clock } = this.options
      const ops = submitted.map((op, index) => ofJob(op, id, index, nanoseconds(clock)))
      const secrets = ops.map((op) => secretsOf(op) ?? {})
      const job = newJob(id, ops.map(redactSecrets), timestamp(clock))
      const [numbered, saved] = await Promise.allSettled([serial, this.save(job)])
      const failed = [saved, numbered].find((result) => result.status === 'rejected')
      if (failed !== undefined) {
        this.unpublished.delete(id)
        const around = { ...this.options, publish: (cancelled: Job) => this.publish(cancelled) }
        const why = await whyRefused(job, failed.reason, failed === saved, around)
        if (why !== undefined) throw why
      }
      if (secrets.some((found) => Object.keys(found).length > 0)) this.secrets.set(id, secrets)
      return { job }
    } catch (error) {
      this.room.free(id)
      if (error instanceof UnsettledAppend) throw error
      return { error: String(errorToWire(error)[1][0]) }
    }
  }

  /** Resolves when durable. The caller then publishes it. */
  private async save(job: Job): Promise<void> {
    this.unpublished.set(job.id, job)
    try {
      await this.options.store.save(job)
    } catch (error) {
      if (this.unpublished.get(job.id) === job) this.unpublished.delete(job.id)
      throw error
    }
  }

  private admit(job: Job): void {
    if (!isFinished(job)) this.enqueue(job)
    this.publish(job)
  }

  private enqueue(job: Job): void {
    const blockers = job.ops.flatMap(dependenciesOf).map(([id]) => id)
    this.scheduler.add(
      job,
      blockers.filter((id) => {
        const blocker = this.jobs.get(id)
        return blocker !== undefined && blocker.id !== job.id && !isFinished(blocker)
      }),
    )
  }

  private schedule(): void {
    if (this.closed || this.parked) return
    const room = Math.max(this.maxRunning - this.executions.size, 0)
    const running = [...this.executions.keys()].flatMap((id) => this.jobs.get(id) ?? [])
    const { start, reject, pause } = this.scheduler.next(room, running, this.filters)
    for (const job of start) void this.execution(job).start(job, this.secrets.get(job.id))
    for (const { job, rule } of reject) void this.settle(rejected(job, rule, timestamp(this.options.clock)))
    for (const { job, rule } of pause) void this.holdBack(job, rule)
  }

  private async holdBack(job: Job, rule: FilterRule): Promise<void> {
    const { clock, log } = this.options
    const failed = (error: unknown) =>
      log.warn({ job: job.id, err: error }, 'cannot write which filter rule holds the job')
    await this.changeQueued(job.id, (one) => heldBack(one, rule, timestamp(clock))).catch(failed)
  }

  /** Writes a change of a waiting job, and publishes it. Returns false if the job does not wait any more. */
  private async changeQueued(id: JobId, change: (job: Job) => Job | undefined): Promise<boolean> {
    for (;;) {
      const before = this.jobs.get(id)
      if (before === undefined || !this.scheduler.has(id)) return false
      const after = change(before)
      if (after === undefined) return true
      await this.save(after)
      if (!this.scheduler.has(id)) return false
      // Another change was published during the write: this one is made on top of it.
      if (this.jobs.get(id) !== before) continue
      this.scheduler.update(after)
      this.publish(after)
      return true
    }
  }

  private execution(job: Job): Execution {
    const execution = new Execution(job.id, {
      ...this.options,
      job: () => this.jobs.get(job.id) ?? job,
      find: (id) => this.find(id),
      publish: (changed) => this.publish(changed),
      save: (changed) => this.save(changed),
      settle: (ended) => this.settle(ended),
      requeue: (again) => this.requeue(again),
      over: () => {
        this.executions.delete(job.id)
        this.shorten(job.id)
        this.schedule()
      },
    })
    this.executions.set(job.id, execution)
    return execution
  }

  private requeue(job: Job): void {
    this.executions.delete(job.id)
    this.publish(job)
    this.enqueue(job)
  }

  /** Writes a job's end, however long it takes, and publishes it. The next luxid settles what this one could not write. */
  private async settle(job: Job): Promise<void> {
    const { clock, log } = this.options
    while (!this.closed) {
      try {
        await this.save(job)
        return this.publish(job)
      } catch (error) {
        log.error({ job: job.id, err: error }, 'cannot write how the job ended; trying again')
        await clock.sleep(JOB_RETRY_S * 1000)
      }
    }
  }

  private publish(job: Job): void {
    this.unpublished.delete(job.id)
    const before = this.jobs.get(job.id)
    if (this.ended.has(job.id) || (before !== undefined && before !== job && isFinished(before))) return
    this.jobs.set(job.id, job)
    const over = isFinished(job)
    if (over) {
      this.secrets.delete(job.id)
      this.room.free(job.id)
      this.scheduler.ended(job.id)
    }
    this.listeners.tell(job)
    this.watcher?.(job, before)
    if (!over) return
    if (!this.executions.has(job.id)) this.shorten(job.id)
    this.schedule()
  }

  /** Called when a job has left its process: from now on most of its data is only in its file. */
  private shorten(id: JobId): void {
    const job = this.jobs.get(id)
    if (job === undefined || !isFinished(job)) return
    this.ended.set(id, endedJob(job))
    this.jobs.delete(id)
    this.whole.add(job)
  }
}

const inputsOf = (job: Job): WireOpCode[] => job.ops.map(({ input }) => input)
