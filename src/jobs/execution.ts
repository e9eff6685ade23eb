// Runs one job: gives it to a process, follows it, and if the process dies before the job has ended, decides from the
// job's file.
import { errorText } from '../lib/system-failure'
import type { Clock, Timer } from '../lib/clock'
import { timestamp, within } from '../lib/clock'
import type { Log } from '../lib/log'
import { Mutex } from '../lib/work/mutex'
import { JOB_START_ATTEMPTS_MAX } from '../model/limits/job-processes'
import { JOB_ADOPT_S, JOB_LOG_WRITE_S, JOB_RETRY_S, QUEUE_GATHER_YOUNG_S } from '../model/limits/queue'
import { secretsOf } from '../opcodes/summary'
import type { JobId } from '../rpc/luxi/calls'
import type { ClientId } from '../rpc/wconfd/calls'
import { type HeldLock, crashOutcome, isUntouched, requeued } from './crash-outcome'
import { type FindJob, verdictsOf } from './dependencies'
import { withinTime } from './replicas'
import { encodeJob } from './job-file'
import { type Job, canceledFrom, dequeued, failedAt, isFinished, notStarted, withOp } from './job'
import type { JobListener, JobRunner, Progress, RunningJob, Secrets, Verdict } from './runner'
import { applyProgress } from './runner'
import type { QueueStore } from './store'

/** Frees everything of an owner whose process has ended. Returns its locks, by their names for people. */
export type OwnerDied = (client: ClientId) => Promise<readonly HeldLock[]>

export interface ExecutionOptions {
  store: QueueStore
  runner: JobRunner
  ownerDied: OwnerDied
  clock: Clock
  log: Log
  /** The job as it is now. */
  job(): Job
  find: FindJob
  publish(job: Job): void
  save(job: Job): Promise<void>
  settle(job: Job): Promise<void>
  requeue(job: Job): void
  over(): void
}

export class Execution {
  readonly done: Promise<void>
  private finish: () => void = () => undefined
  private running: RunningJob | undefined
  private begun = false
  private given_ms = -Infinity
  private left = false
  private cancelWanted = false
  private killWanted = false
  private takenBack = false
  private priorityWanted: number | undefined
  /** Writes and publishes the process's messages in their order. */
  private readonly heard = new Mutex()
  /** Set while log lines are published but not written. */
  private unwritten: Timer | undefined

  constructor(
    readonly id: JobId,
    private readonly options: ExecutionOptions,
  ) {
    this.done = new Promise((resolve) => (this.finish = resolve))
  }

  async start(job: Job, secrets: Secrets | undefined): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        const verdicts = await verdictsOf(job, this.options.find)
        const early = this.withoutProcess(job, secrets, verdicts)
        return await (early ? this.endWith(early) : this.begin(job, secrets ?? [], verdicts))
      } catch (error) {
        if (this.left) return
        this.options.log.error({ job: this.id, attempt, err: error }, 'cannot start the process of a job')
        if (attempt < JOB_START_ATTEMPTS_MAX && !this.killWanted) await this.options.clock.sleep(JOB_RETRY_S * 1000)
        else return this.endWith(this.cannotStart(job, error))
      }
    }
  }

  /** Whether a process got it recently: a short job ends soon. */
  get isYoung(): boolean {
    const { clock, job } = this.options
    return clock.monotonic_ms() - this.given_ms <= QUEUE_GATHER_YOUNG_S * 1000 && !isFinished(job())
  }

  /** Looks for the process to which an earlier luxid gave the job. */
  async adopt(job: Job): Promise<void> {
    this.running = await this.options.runner.adopt(job, this.listener())
    // Without room for its file a dead job is settled later, and luxid answers questions meanwhile.
    if (this.running === undefined) return void (await within(this.options.clock, JOB_ADOPT_S, this.settleDeath()))
    this.options.log.info({ job: this.id, pid: job.process_id }, 'found the process of a running job again')
  }

  cancel(): void {
    this.cancelWanted = true
    this.running?.cancel()
  }

  kill(): void {
    this.killWanted = true
    this.running?.kill()
  }

  /** If the job has done nothing yet, ends its process and queues it again. Resolves when that is done. */
  async takeBack(): Promise<void> {
    await this.heard.idle()
    if (this.killWanted || this.cancelWanted || !isUntouched(this.options.job())) return
    this.takenBack = true
    this.running?.kill()
    await this.done
  }

  /** Tells the process, and returns its pid. */
  setPriority(priority: number): number {
    this.priorityWanted = priority
    this.running?.setPriority(priority)
    return this.options.job().process_id ?? 0
  }

  /** Lets the process go on alone. Resolves when nothing of the job is being written here any more. */
  async leave(): Promise<void> {
    this.left = true
    this.dropLogTimer()
    await this.running?.leave()
  }

  /** The job's end, if it can be decided without a process. */
  private withoutProcess(job: Job, secrets: Secrets | undefined, verdicts: readonly Verdict[]): Job | undefined {
    const now = timestamp(this.options.clock)
    const started = { ...withOp(job, 0, { start_timestamp: now }), start_timestamp: now }
    const [first] = verdicts
    if (first === 'cancel') return canceledFrom(started, 0, now)
    if (typeof first === 'object') return failedAt(started, 0, first.error, now)
    if (secrets !== undefined || job.ops.every((op) => secretsOf(op.input) === null)) return undefined
    const text = 'its secret parameters were lost when the master daemon restarted; submit the job again'
    return failedAt(started, 0, ['OpExecError', [`Job ${job.id} cannot run: ${text}`]], now)
  }

  private async begin(job: Job, secrets: Secrets, verdicts: readonly Verdict[]): Promise<void> {
    const { runner, clock, publish } = this.options
    const prepared = await runner.prepare(this.id)
    try {
      const now = timestamp(clock)
      const { livelock, pid } = prepared
      const first = withOp(job, 0, { status: 'waiting', start_timestamp: now })
      const started: Job = { ...first, start_timestamp: now, livelock, process_id: pid }
      if (this.left) throw new Error('luxid is stopping')
      // Not written: a waiting job has done nothing yet, and is queued again after a crash. Until then the live-lock
      // shows it.
      publish(started)
      this.given_ms = clock.monotonic_ms()
      this.running = await prepared.begin({ job: started, secrets, verdicts }, this.listener())
      this.begun = true
    } catch (error) {
      prepared.abandon()
      await this.options.store.removeLivelock(prepared.livelock)
      throw error
    }
    if (this.left) await this.running.leave()
    if (this.killWanted || this.takenBack) this.running.kill()
    else if (this.cancelWanted) this.running.cancel()
    if (this.priorityWanted !== undefined) this.running.setPriority(this.priorityWanted)
  }

  private cannotStart(job: Job, error: unknown): Job {
    const now = timestamp(this.options.clock)
    if (this.cancelWanted) return dequeued(requeued(job), now)
    return notStarted(requeued(job), errorText(error), now)
  }

  private listener(): JobListener {
    return {
      progress: (progress) => this.hear(progress),
      over: () => isFinished(this.options.job()),
      gone: () => void this.heard.idle().then(() => this.settleDeath()),
    }
  }

  private hear(progress: Progress): Promise<void> {
    const { save, job, publish } = this.options
    // Its process is being ended, and must not begin.
    if (this.takenBack) return new Promise(() => undefined)
    this.begun = true
    return this.heard.runExclusive(async () => {
      const before = job()
      const next = applyProgress(before, progress)
      // After finding the process again, its report may equal the file's content.
      const moved = progress.kind === 'step' || (progress.kind === 'job' && encodeJob(next) !== encodeJob(before))
      if (moved) {
        this.dropLogTimer()
        await save(next)
      }
      publish(next)
      if (progress.kind === 'log') this.writeLogSoon()
    })
  }

  /** Log lines are published at once. If the machine crashes, they may be lost. */
  private writeLogSoon(): void {
    const { clock, save, job } = this.options
    const write = () => {
      this.unwritten = undefined
      void this.heard.runExclusive(async () => (isFinished(job()) ? undefined : save(job()))).catch(() => undefined)
    }
    this.unwritten ??= clock.after(JOB_LOG_WRITE_S * 1000, write, { background: true })
  }

  private dropLogTimer(): void {
    this.unwritten?.cancel()
    this.unwritten = undefined
  }

  /** Retries as long as the disk fails to read the file. */
  private async settleDeath(): Promise<void> {
    while (!this.left) {
      try {
        return await this.gone()
      } catch (error) {
        this.options.log.error({ job: this.id, err: error }, 'cannot see what became of a job; trying again')
        await this.options.clock.sleep(JOB_RETRY_S * 1000)
      }
    }
  }

  /** From here on only luxid writes the job's file. */
  private async gone(): Promise<void> {
    this.dropLogTimer()
    if (this.left) return
    const { store, clock, log, job, requeue } = this.options
    if (isFinished(job())) {
      // The process may have died after its job had ended, and left its live-lock.
      await store.removeLivelock(job().livelock)
      return this.leaveQueue()
    }
    const written = await store.read(this.id)
    // A file without a live-lock was written before a process got the job.
    const file = written?.livelock === undefined ? undefined : written
    const locks = await this.freeLocks(file ?? job())
    await store.removeLivelock(job().livelock)
    if (this.left) return
    const outcome = crashOutcome({
      known: job(),
      file,
      begun: (this.begun && !this.takenBack) || this.killWanted,
      locks,
      now: timestamp(clock),
    })
    if (outcome.kind === 'ended') return this.endWith(outcome.job)
    log.warn({ job: this.id }, 'the process of a job was gone before the job had begun; it goes back into the queue')
    requeue(outcome.job)
    this.finish()
  }

  private async freeLocks(job: Job): Promise<readonly HeldLock[]> {
    const { ownerDied, clock, log } = this.options
    if (job.livelock === undefined) return []
    const client: ClientId = [job.id, job.livelock, job.process_id ?? 0]
    try {
      return await withinTime(clock, ownerDied(client))
    } catch (error) {
      log.warn(
        { job: job.id, err: error },
        'cannot free the locks of a dead job now; wconfd does when it finds it dead',
      )
      return []
    }
  }

  private async endWith(job: Job): Promise<void> {
    await this.options.settle(job)
    this.leaveQueue()
  }

  private leaveQueue(): void {
    this.dropLogTimer()
    this.options.over()
    this.finish()
  }
}
