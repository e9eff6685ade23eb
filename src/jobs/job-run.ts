// Runs a job's opcodes one after the other: waiting, running, success, or the end of the whole job. Every transition is
// durable before anybody is told. It knows no process: job-process runs it in one, the simulation in memory.
import { errorText } from '../lib/system-failure'
import type { Clock } from '../lib/clock'
import { type Timer, timestamp } from '../lib/clock'
import { JOB_RUNNING_TOLD_S } from '../model/limits/job-processes'
import { JOB_LOG_ENTRIES_MAX } from '../model/limits/queue'
import { GanetiError } from '../model/errors'
import { inDeclaredOrder } from '../opcodes/parse'
import type { LogEntry, WireOpCode } from '../rpc/luxi/calls'
import { type Job, canceledFrom, failedAt, isFinal, withOp, withPriority } from './job'
import type { JobOrder, Progress } from './runner'

/**
 * `repeatable`: an opcode that changes nothing can run again after a crash, so it does not wait until its beginning is
 * durable.
 */
export type Started = 'once' | 'repeatable'

/** The part of an operation's `JobEnvironment` that comes from its job. */
export interface OpcodeSetting {
  readonly opIndex: number
  readonly secrets: Readonly<Record<string, unknown>>
  priority(): number
  onPriority(action: () => void): () => void
  log(type: string, message: unknown): void
  note(fields: Readonly<Record<string, unknown>>): void
  started(how?: Started): Promise<void>
  retrying(): Promise<void>
  readonly cancelled: AbortSignal
}

export interface JobRunOptions {
  clock: Clock
  execute(op: WireOpCode, setting: OpcodeSetting): Promise<unknown>
  /** Makes the job's state durable, here and at the candidates, and publishes it. `progress` is the change. */
  save(job: Job, progress: Progress): Promise<void>
  /** A new log entry: published at once, written soon. */
  log(job: Job, progress: Progress): void
  /** The error that stops an opcode when its job is cancelled. */
  Cancelled: new () => Error
  onBug(error: unknown): void
}

export class JobRun {
  private current: Job
  /** The last reported state of the job, without log lines. */
  private told: Job
  /** Reports that an opcode runs, after a delay or together with its end. */
  private late: Timer | undefined
  private readonly cancelled = new AbortController()
  private serial: number
  private saving: Promise<void> = Promise.resolve()
  private readonly priorityWatchers = new Set<() => void>()

  constructor(
    private readonly order: JobOrder,
    private readonly options: JobRunOptions,
  ) {
    this.current = order.job
    this.told = order.job
    this.serial = Math.max(0, ...order.job.ops.flatMap((op) => op.log.map((entry) => entry[0])))
  }

  get job(): Job {
    return this.current
  }

  /** Resolves when the job has ended and its file says so. */
  async run(): Promise<void> {
    for (const [index, op] of this.current.ops.entries()) {
      if (isFinal(op.status)) continue
      if (!(await this.runOp(index))) return
    }
    if (this.current.end_timestamp === null)
      await this.become({ ...this.current, end_timestamp: timestamp(this.options.clock) })
  }

  /** A waiting opcode will not run. A running one is told, and goes on if it cannot stop. */
  cancel(): void {
    if (this.cancelled.signal.aborted) return
    const waiting = this.current.ops.some((op) => op.status === 'waiting')
    this.cancelled.abort(new this.options.Cancelled())
    if (!waiting) return
    const ops = this.current.ops.map((op) => (isFinal(op.status) ? op : { ...op, status: 'canceling' as const }))
    void this.become({ ...this.current, ops }).catch(this.options.onBug)
  }

  setPriority(priority: number): void {
    void this.become(withPriority(this.current, priority)).catch(this.options.onBug)
    for (const action of this.priorityWatchers) action()
  }

  /** False if the job has ended with this opcode. */
  private async runOp(index: number): Promise<boolean> {
    const { clock, execute, onBug } = this.options
    const verdict = this.order.verdicts[index] ?? 'continue'
    if (this.cancelled.signal.aborted || verdict === 'cancel')
      return this.end(canceledFrom(this.current, index, this.now()))
    if (this.current.ops[index]?.status === 'queued')
      await this.become(withOp(this.current, index, { status: 'waiting', start_timestamp: timestamp(clock) }))
    if (typeof verdict === 'object') return this.end(failedAt(this.current, index, verdict.error, this.now()))
    const input = this.begin(index)
    if (input === undefined) return false
    try {
      const result = await execute(input, this.setting(index))
      await this.succeed(index, result ?? null)
      return true
    } catch (error) {
      if (this.isCancellation(index, error)) return this.end(canceledFrom(this.current, index, this.now()))
      if (!(error instanceof GanetiError)) onBug(error)
      return this.end(failedAt(this.current, index, encodeError(error), this.now()))
    }
  }

  /** Adds the debug level to the next opcode, as in Ganeti's job files. The next transition writes it. */
  private begin(index: number): WireOpCode | undefined {
    const input = this.current.ops[index]?.input
    if (input === undefined) return undefined
    const begun = inDeclaredOrder({ debug_level: 0, ...input })
    this.current = withOp(this.current, index, { input: begun })
    return begun
  }

  private setting(index: number): OpcodeSetting {
    return {
      opIndex: index,
      secrets: this.order.secrets[index] ?? {},
      priority: () => this.current.ops[index]?.priority ?? 0,
      onPriority: (action) => {
        this.priorityWatchers.add(action)
        return () => void this.priorityWatchers.delete(action)
      },
      log: (type, message) => this.log(index, type, message),
      note: (fields) => this.note(index, fields),
      started: (how = 'once') => this.started(index, how),
      retrying: () => this.become(withOp(this.current, index, { status: 'waiting' })),
      cancelled: this.cancelled.signal,
    }
  }

  /** Adds values that the opcode has computed to its input. The next transition writes them. */
  private note(index: number, fields: Readonly<Record<string, unknown>>): void {
    const op = this.current.ops[index]
    if (op !== undefined)
      this.current = withOp(this.current, index, { input: inDeclaredOrder({ ...op.input, ...fields }) })
  }

  private async started(index: number, how: Started): Promise<void> {
    if (this.cancelled.signal.aborted) throw new this.options.Cancelled()
    const next = withOp(this.current, index, { status: 'running', exec_timestamp: this.now() })
    if (how === 'once') return this.become(next)
    const { clock, onBug } = this.options
    this.current = next
    const tell = () => void this.become(this.current).catch(onBug)
    this.late = clock.after(JOB_RUNNING_TOLD_S * 1000, tell, { background: true })
  }

  /** The next opcode begins to wait in the same step in which this one succeeds. */
  private async succeed(index: number, result: unknown): Promise<void> {
    const now = this.now()
    let next = withOp(this.current, index, { status: 'success', result, end_timestamp: now })
    const following = next.ops[index + 1]
    if (following === undefined) next = { ...next, end_timestamp: now }
    else if (following.status === 'queued' && !this.cancelled.signal.aborted)
      next = withOp(next, index + 1, { status: 'waiting', start_timestamp: now })
    await this.become(next)
  }

  private async end(job: Job): Promise<false> {
    await this.become(job)
    return false
  }

  /** An opcode counts as cancelled if it had not begun, or stopped because it was told to. */
  private isCancellation(index: number, error: unknown): boolean {
    if (!this.cancelled.signal.aborted) return false
    return this.current.ops[index]?.exec_timestamp === null || error instanceof this.options.Cancelled
  }

  /** Transitions happen one after the other: each is durable and published before the next. */
  private become(next: Job): Promise<void> {
    this.late?.cancel()
    const before = this.told
    this.current = next
    this.told = next
    const done = this.saving.then(() => this.options.save(this.current, step(before, next)))
    this.saving = done.catch(() => undefined)
    return done
  }

  private log(index: number, type: string, message: unknown): void {
    const op = this.current.ops[index]
    if (op === undefined || this.serial >= JOB_LOG_ENTRIES_MAX) return
    const entry: LogEntry = [++this.serial, this.now(), type, message]
    this.current = withOp(this.current, index, { log: [...op.log, entry] })
    this.options.log(this.current, { kind: 'log', index, entry })
  }

  private now() {
    return timestamp(this.options.clock)
  }
}

function step(before: Job, after: Job): Progress {
  const ops = after.ops.flatMap((op, index) => {
    if (op === before.ops[index]) return []
    const { log: _log, ...rest } = op
    return [[index, rest] as const]
  })
  return { kind: 'step', ops, start_timestamp: after.start_timestamp, end_timestamp: after.end_timestamp }
}

/**
 * The error for the job file: `[class, [arguments]]`. An error that is not the cluster's counts as a failed execution.
 */
function encodeError(error: unknown): unknown {
  if (error instanceof GanetiError) return error.toWire()
  return ['OpExecError', [errorText(error)]]
}
