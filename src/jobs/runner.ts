// How the queue executes jobs. The pool runs each in a process; the simulation runs them in memory.
import type { JobId } from '../rpc/luxi/calls'
import type { Timestamp } from '../lib/clock'
import type { LogEntry } from '../rpc/luxi/calls'
import type { Job, JobOp } from './job'

/** Secret parameters of each opcode of a job, by name; only in memory. */
export type Secrets = readonly Readonly<Record<string, unknown>>[]

/** The result of an opcode's dependencies: continue, cancel, or fail with this error. */
export type Verdict = 'continue' | 'cancel' | { readonly error: unknown }

export interface JobOrder {
  readonly job: Job
  readonly secrets: Secrets
  readonly verdicts: readonly Verdict[]
}

/** A process that waits for the order to begin. */
export interface PreparedJob {
  /** The live-lock that it will have. */
  readonly livelock: string
  readonly pid: number
  /** Resolves when the job has begun. Rejects if the process died before that; then the job is untouched. */
  begin(order: JobOrder, listener: JobListener): Promise<RunningJob>
  abandon(): void
}

export interface RunningJob {
  cancel(): void
  setPriority(priority: number): void
  kill(): void
  /** Answers what was received, then stops listening; the process goes on. */
  leave(): Promise<void>
}

export interface JobListener {
  /** A change of the job; resolves when it is durable here and at the candidates in sync. */
  progress(progress: Progress): Promise<void>
  /** Whether the job has ended, so that its process has nothing more to report. */
  over(): boolean
  /** The process has died, or has ended the job. */
  gone(): void
}

/** One message of a job's progress. A step is a whole transition: half of one would be a state that never existed. */
export type Progress =
  | { readonly kind: 'job'; readonly job: Job }
  | {
      readonly kind: 'step'
      readonly ops: readonly (readonly [index: number, op: Omit<JobOp, 'log'>])[]
      readonly start_timestamp: Timestamp | null
      readonly end_timestamp: Timestamp | null
    }
  | { readonly kind: 'log'; readonly index: number; readonly entry: LogEntry }

export interface JobRunner {
  prepare(id: JobId): Promise<PreparedJob>
  /** Finds the process of a job that an earlier luxid started; undefined if it is gone. */
  adopt(job: Job, listener: JobListener): Promise<RunningJob | undefined>
  /** Jobs go on; idle processes end. */
  close(): Promise<void>
}

/** The job after the progress. */
export function applyProgress(job: Job, progress: Progress): Job {
  switch (progress.kind) {
    case 'job':
      return progress.job
    case 'step': {
      const { start_timestamp, end_timestamp } = progress
      const changed = new Map(progress.ops)
      const ops = job.ops.map((op, i): JobOp => ({ ...op, ...changed.get(i) }))
      return { ...job, ops, start_timestamp, end_timestamp }
    }
    case 'log':
      return {
        ...job,
        ops: job.ops.map((op, i) => (i === progress.index ? { ...op, log: [...op.log, progress.entry] } : op)),
      }
  }
}
