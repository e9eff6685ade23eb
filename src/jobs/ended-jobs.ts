// luxid's short record of each ended job, since the queue may have thousands. The rest is in the job's file, which is
// read on demand. The last ended jobs are kept whole for a while.
import type { Timestamp } from '../lib/clock'
import {
  ENDED_JOBS_WHOLE_BYTES_MAX,
  ENDED_JOBS_WHOLE_MAX,
  JOB_OBJECT_CHARS_MAX,
  JOB_OBJECTS_MAX,
} from '../model/limits/queue'
import { MARK } from '../model/marks'
import { allOpcodes } from '../opcodes/all'
import { boundedObjects } from '../opcodes/objects'
import { opcodeSummary } from '../opcodes/summary'
import type { JobId } from '../rpc/luxi/calls'
import type { Job, JobOp } from './job'
import { encodeJob } from './job-file'
import { marksOf } from './marks'

/** The facts about an opcode that lists show and are filtered by. Their size is bounded, except for the name in the summary. */
export interface OpSummary extends Pick<
  JobOp,
  'status' | 'priority' | 'start_timestamp' | 'exec_timestamp' | 'end_timestamp'
> {
  readonly OP_ID: string
  readonly summary: string
}

export interface EndedJob {
  readonly id: JobId
  readonly ops: readonly OpSummary[]
  /** The first objects that it names, as `instance/vm1`. */
  readonly objects: readonly string[]
  readonly received_timestamp: Timestamp | null
  readonly start_timestamp: Timestamp | null
  readonly end_timestamp: Timestamp | null
  /** Ids of the tokens of its submitter, and of submitters of the jobs that led to it. */
  readonly tokens: readonly string[]
  /** The idempotency keys that stand for it. */
  readonly keys: readonly string[]
}

export function endedJob({ id, ops, received_timestamp, start_timestamp, end_timestamp }: Job): EndedJob {
  return {
    ...{ id, received_timestamp, start_timestamp, end_timestamp },
    ops: ops.map((op) => sharing(opSummary(op), { start_timestamp, end_timestamp })),
    objects: shared(objectsOfJob({ ops })),
    tokens: shared(tokensOf({ ops })),
    keys: shared(keysOf({ id, ops })),
  }
}

export function opSummary({ input, status, priority, ...times }: JobOp): OpSummary {
  const { start_timestamp, exec_timestamp, end_timestamp } = times
  const OP_ID = allOpcodes.get(input.OP_ID)?.id ?? input.OP_ID
  return { OP_ID, summary: opcodeSummary(input), status, priority, start_timestamp, exec_timestamp, end_timestamp }
}

const OBJECTS = { count: JOB_OBJECTS_MAX, chars: JOB_OBJECT_CHARS_MAX }

/** The objects that it is about, as far as they are kept. */
export const objectsOfJob = (job: Pick<Job, 'ops'> | Pick<EndedJob, 'objects'>): readonly string[] =>
  'objects' in job
    ? job.objects
    : boundedObjects(
        job.ops.map(({ input }) => input),
        OBJECTS,
      )

/** Most jobs have one opcode, which starts and ends with its job: equal times are stored once. */
function sharing(op: OpSummary, job: Pick<Job, 'start_timestamp' | 'end_timestamp'>): OpSummary {
  const once = (time: Timestamp | null, known: Timestamp | null) =>
    time?.[0] === known?.[0] && time?.[1] === known?.[1] ? known : time
  return {
    ...op,
    start_timestamp: once(op.start_timestamp, job.start_timestamp),
    end_timestamp: once(op.end_timestamp, job.end_timestamp),
  }
}

export function tokensOf(job: Pick<Job, 'ops'> | Pick<EndedJob, 'tokens'>): readonly string[] {
  if ('tokens' in job) return job.tokens
  const trail: unknown = job.ops[0]?.input['reason']
  if (!Array.isArray(trail)) return NONE
  return trail.flatMap((entry: unknown) => {
    const [source, text]: unknown[] = Array.isArray(entry) ? entry : []
    return source === MARK.token && typeof text === 'string' ? [text] : []
  })
}

export function keysOf(job: Pick<Job, 'id' | 'ops'> | EndedJob): readonly string[] {
  if ('keys' in job) return job.keys
  const [first] = job.ops
  return first === undefined ? NONE : marksOf(first.input, job.id, MARK.key)
}

const NONE: readonly string[] = []
const shared = (list: readonly string[]): readonly string[] => (list.length === 0 ? NONE : list)

/** The last ended jobs, whole: most questions are about these. */
export class WholeJobs {
  private readonly jobs = new Map<JobId, { job: Job; bytes: number }>()
  private bytes = 0

  get(id: JobId): Job | undefined {
    return this.jobs.get(id)?.job
  }

  add(job: Job): void {
    const bytes = encodeJob(job).length
    this.bytes += bytes - (this.jobs.get(job.id)?.bytes ?? 0)
    this.jobs.delete(job.id)
    this.jobs.set(job.id, { job, bytes })
    for (const [id, oldest] of this.jobs) {
      if (this.jobs.size <= ENDED_JOBS_WHOLE_MAX && this.bytes <= ENDED_JOBS_WHOLE_BYTES_MAX) return
      this.jobs.delete(id)
      this.bytes -= oldest.bytes
    }
  }
}
