// Decides what to do about a job whose process has died. Pure.
import type { Timestamp } from '../lib/clock'
import type { LockMode } from '../rpc/wconfd/calls'
import { type Job, canceledFrom, died, isFinished, jobStatus } from './job'

export type Outcome =
  | { readonly kind: 'ended'; readonly job: Job }
  /** The job has done nothing yet, so it goes back into the queue. */
  | { readonly kind: 'requeue'; readonly job: Job }

export type HeldLock = readonly [title: string, mode: LockMode]

export interface Death {
  /** The job as luxid knows it. */
  known: Job
  /** The job as its process wrote it. It may have more than the process could report. */
  file: Job | undefined
  /** Whether luxid knows that the process had begun the job; a restarted luxid does not know. */
  begun: boolean
  /** Locks that the process still held. */
  locks: readonly HeldLock[]
  now: Timestamp
}

export function crashOutcome({ known, file, begun, locks, now }: Death): Outcome {
  const job = file ?? known
  if (isFinished(job)) return { kind: 'ended', job }
  if (isUntouched(job) && !begun) return { kind: 'requeue', job: requeued(job) }
  const at = job.ops.findIndex((op) => op.status !== 'success')
  if (jobStatus(job) === 'canceling') return { kind: 'ended', job: canceledFrom(job, at, now) }
  return { kind: 'ended', job: died(job, obituary(job, locks), now) }
}

/** It still waits: nothing was done for it. */
export const isUntouched = (job: Job): boolean =>
  job.ops.every((op) => op.status === 'queued' || op.status === 'waiting')

/** The job as it was before a process got it. */
export function requeued(job: Job): Job {
  const { livelock: _livelock, process_id: _process, ...rest } = job
  return {
    ...rest,
    start_timestamp: null,
    ops: job.ops.map((op) => ({ ...op, status: 'queued', start_timestamp: null, exec_timestamp: null })),
  }
}

/** Begins with Ganeti's text. Then says what was running, which locks it held, and where to look. */
function obituary(job: Job, locks: Death['locks']): string {
  const running = job.ops.find((op) => op.status === 'running')
  const what =
    running === undefined
      ? 'it was waiting, so nothing was changed'
      : `${running.input.OP_ID} was running, so what it had changed until then stays as it is`
  const held = locks.map(([name, mode]) => `${name} (${mode})`).join(', ')
  const freed = held === '' ? '' : `; its locks were freed: ${held}`
  const advice = running === undefined ? '' : "; run 'gnt-cluster verify' to see what is left"
  return `detected death of job ${job.id}: ${what}${freed}${advice}`
}
