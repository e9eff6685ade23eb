// Jobs: a queue entry's data and transitions. The pure files here (job, job-file, scheduler, filters) know neither disk
// nor processes; store, queue, pool and job-process add these. Nothing here knows what an opcode does.
import type { Timestamp } from '../lib/clock'
import { PRECEDING_FAILED } from '../model/constants/jobs'
import type { FilterRule } from '../model/filter-rule'
import { MARK } from '../model/marks'
import type { JobId, LogEntry, WireOpCode } from '../rpc/luxi/calls'

export type JobStatus = 'queued' | 'waiting' | 'canceling' | 'running' | 'canceled' | 'success' | 'error'
export type OpStatus = JobStatus
export type FinalStatus = 'canceled' | 'success' | 'error'

export interface JobOp {
  readonly input: WireOpCode
  readonly status: OpStatus
  readonly result: unknown
  readonly log: readonly LogEntry[]
  readonly priority: number
  readonly start_timestamp: Timestamp | null
  /** When it had its locks and really began. */
  readonly exec_timestamp: Timestamp | null
  readonly end_timestamp: Timestamp | null
}

export interface Job {
  readonly id: JobId
  readonly ops: readonly JobOp[]
  readonly received_timestamp: Timestamp | null
  readonly start_timestamp: Timestamp | null
  readonly end_timestamp: Timestamp | null
  /** The socket which proves that the job's process lives. */
  readonly livelock?: string
  readonly process_id?: number
}

const CANCELED_TEXT = 'Job canceled by request'

export const isFinal = (status: OpStatus): status is FinalStatus =>
  status === 'canceled' || status === 'success' || status === 'error'

/** A job's status follows from its opcodes. */
export function jobStatus(job: { readonly ops: readonly Pick<JobOp, 'status'>[] }): JobStatus {
  let status: JobStatus = 'queued'
  let succeeded = 0
  for (const op of job.ops) {
    if (op.status === 'success') succeeded++
    else if (op.status !== 'queued') status = op.status
    if (op.status === 'canceling' || op.status === 'canceled' || op.status === 'error') return op.status
  }
  return succeeded === job.ops.length ? 'success' : status
}

export const isFinished = (job: Parameters<typeof jobStatus>[0]): boolean => isFinal(jobStatus(job))

/** The most urgent priority of the unfinished opcodes; lower is more urgent. */
export function jobPriority(job: Pick<Job, 'ops'>): number {
  const open = job.ops.filter((op) => !isFinal(op.status)).map((op) => op.priority)
  return open.length === 0 ? 0 : Math.min(...open)
}

/** The absolute id of a job on which an opcode depends, with the final statuses that it accepts. */
export type Dependency = [job: JobId, statuses: FinalStatus[]]

export function dependenciesOf({ input }: Pick<JobOp, 'input'>): Dependency[] {
  const { depends } = input
  if (!Array.isArray(depends)) return []
  return depends.filter(isDependency)
}

function isDependency(value: unknown): value is Dependency {
  return Array.isArray(value) && Number.isInteger(value[0]) && Array.isArray(value[1])
}

export function newJob(id: JobId, ops: readonly WireOpCode[], received: Timestamp): Job {
  return {
    id,
    ops: ops.map((input) => ({
      input,
      status: 'queued',
      result: null,
      log: [],
      priority: typeof input['priority'] === 'number' ? input['priority'] : 0,
      start_timestamp: null,
      exec_timestamp: null,
      end_timestamp: null,
    })),
    received_timestamp: received,
    start_timestamp: null,
    end_timestamp: null,
  }
}

export function withOp(job: Job, index: number, change: Partial<JobOp>): Job {
  return { ...job, ops: job.ops.map((op, i) => (i === index ? { ...op, ...change } : op)) }
}

/** Removes a waiting job from the queue: no opcode has started, none has a result. */
export function dequeued(job: Job, now: Timestamp): Job {
  const ops = job.ops.map((op): JobOp => (isFinal(op.status) ? op : { ...op, status: 'canceled', end_timestamp: now }))
  return { ...job, ops, end_timestamp: now }
}

/** The same because of a filter rule; the job's log names the rule and its maker's reason. */
export const rejected = (job: Job, rule: DecidingRule, now: Timestamp): Job =>
  withMessage(dequeued(job, now), `Canceled: filter rule ${rule.uuid} rejects this job${whyOf(rule)}`, now)

/** Notes in the job's log, once, that a filter rule holds it back; undefined if the last entry says so already. */
export function heldBack(job: Job, rule: DecidingRule, now: Timestamp): Job | undefined {
  const text = `Waiting: filter rule ${rule.uuid} pauses this job until the rule is changed or deleted${whyOf(rule)}`
  return job.ops[0]?.log.at(-1)?.[3] === text ? undefined : withMessage(job, text, now)
}

type DecidingRule = Pick<FilterRule, 'uuid' | 'reason_trail'>

function whyOf({ reason_trail }: DecidingRule): string {
  const why = reason_trail.flatMap(([source, text]) => (text === '' ? [] : [`${text} (${source})`]))
  return why.length > 0 ? `: ${why.join('; ')}` : ''
}

function withMessage(job: Job, text: string, now: Timestamp): Job {
  const serial = Math.max(0, ...job.ops.flatMap(({ log }) => log.map(([number]) => number))) + 1
  return withOp(job, 0, { log: [...(job.ops[0]?.log ?? []), [serial, now, 'message', text]] })
}

/** Stops a job that already has a process before its opcode `index`. */
export function canceledFrom(job: Job, index: number, now: Timestamp): Job {
  const ops = job.ops.map((op, i): JobOp => {
    if (i < index || isFinal(op.status)) return op
    return { ...op, status: 'canceled', result: CANCELED_TEXT, end_timestamp: now }
  })
  return { ...job, ops, end_timestamp: now }
}

/** Opcode `index` failed with `result`; the following ones never run. */
export function failedAt(job: Job, index: number, result: unknown, now: Timestamp): Job {
  const ops = job.ops.map((op, i): JobOp => {
    if (i < index || isFinal(op.status)) return op
    if (i > index) return { ...op, status: 'error', result: PRECEDING_FAILED }
    return { ...op, status: 'error', result, end_timestamp: now }
  })
  return { ...job, ops, end_timestamp: now }
}

/** The job's process died before the job was finished. */
export const died = (job: Job, text: string, now: Timestamp): Job =>
  failed(job, ['gnt:daemon:luxid:deathdetection', `detected death of job ${job.id}`], text, now)

/**
 * The master had lost the job, and only a candidate has it. It must not run: nobody knows how much of it was done. One
 * that had not begun loses its idempotency key, so that its submitter's next attempt runs.
 */
export function lost(job: Job, node: string, now: Timestamp): Job {
  const text = `the master had lost job ${job.id}, which had not ended at ${node}; it was not run again`
  const had = job.ops.every(({ status }) => status === 'queued') ? { ...job, ops: job.ops.map(withoutKey) } : job
  return failed(had, ['gnt:daemon:luxid:lostjobs', text], text, now)
}

function withoutKey(op: JobOp): JobOp {
  const trail: readonly unknown[] = Array.isArray(op.input['reason']) ? op.input['reason'] : []
  const reason = trail.filter((entry) => !Array.isArray(entry) || entry[0] !== MARK.key)
  return { ...op, input: { ...op.input, reason } }
}

/** No process could be started for the job. */
export function notStarted(job: Job, why: string, now: Timestamp): Job {
  const text = `job ${job.id} failed to start: ${why}`
  return failed(job, ['gnt:daemon:luxid:startjobs', text], text, now)
}

/** Every unfinished opcode gets luxid's findings, also in its reason trail. */
function failed(job: Job, found: readonly [source: string, text: string], text: string, now: Timestamp): Job {
  const trail = [...found, now[0] * 1e9 + now[1] * 1000]
  const ops = job.ops.map((op): JobOp => {
    if (isFinal(op.status)) return op
    const reason = Array.isArray(op.input['reason']) ? op.input['reason'] : []
    const input = { ...op.input, reason: [...reason, trail] }
    return { ...op, input, status: 'error', result: text, end_timestamp: now }
  })
  return { ...job, ops, end_timestamp: now }
}

/** Sets the priority of every opcode that has not begun. */
export function withPriority(job: Job, priority: number): Job {
  return { ...job, ops: job.ops.map((op) => (isFinal(op.status) ? op : { ...op, priority })) }
}

/**
 * Whether the first state of the job is the later one. A process writes alone while luxid is away, so the file may be
 * ahead of luxid.
 */
export function isFurther(job: Job, other: Job): boolean {
  const [mine, others] = [stageOf(job), stageOf(other)]
  return mine > others || (mine === others && logAfter(job, null).length > logAfter(other, null).length)
}

const STAGES: Readonly<Record<OpStatus, number>> = {
  ...{ queued: 0, waiting: 1, canceling: 2, running: 2 },
  ...{ canceled: 3, success: 3, error: 3 },
}
const stageOf = ({ ops }: Job): number => ops.reduce((sum, { status }) => sum + STAGES[status], 0)

/** The log of all opcodes after entry `serial`, in order. */
export function logAfter(job: Job, serial: number | null): LogEntry[] {
  return job.ops.flatMap((op) => op.log.filter((entry) => serial === null || entry[0] > serial))
}
