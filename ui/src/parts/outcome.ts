// How a job went, together with the jobs that it has submitted: an evacuation is done when its instances have moved, and a verification
// is only well if it has found nothing.
import { texts } from '../texts'
import { errorOf, isOver, type Job, TONES } from './job-state'
import { refusedOf, submittedOf } from './submitted'
import type { Tone } from './tone'
import { verifiedOf } from './verified'

const own = texts.jobs.outcome

export interface Outcome {
  readonly tone: Tone
  readonly text: string
  /** Whether all has ended well. */
  readonly well: boolean
  /** The submitted jobs that failed, and why others could not be submitted. */
  readonly failed: readonly { readonly job?: number; readonly why: string }[]
}

/** Jobs that check something. Their findings are in their logs. */
const CHECKS = /^CLUSTER_VERIFY/
/** Jobs whose submitted jobs move instances. */
const MOVES = /^(NODE_EVACUATE|NODE_MIGRATE|GROUP_EVACUATE|INSTANCE_CHANGE_GROUP)\b/

/** Jobs that always submit others, so that their own state does not say how it went. A test compares them with the opcodes. */
const SUBMITS =
  /^(CLUSTER_VERIFY|CLUSTER_VERIFY_DISKS|INSTANCE_MULTI_ALLOC|INSTANCE_REPAIR|NODE_EVACUATE|NODE_MIGRATE|GROUP_EVACUATE|INSTANCE_CHANGE_GROUP)\b/
export const submits = ({ ops }: Pick<Job, 'ops'>): boolean => ops.some(({ summary }) => SUBMITS.test(summary))

const statusText = (status: string): string => texts.jobs.status[status] ?? status

/** `parts`: the submitted jobs that are still known. */
export function outcomeOf(job: Job, parts: readonly Job[]): Outcome {
  const plain = { tone: TONES[job.status] ?? 'off', text: statusText(job.status), failed: [] }
  if (job.status !== 'success') return { ...plain, well: false }
  const failed = [
    ...refusedOf(job).map((why) => ({ why })),
    ...parts.flatMap((one) =>
      isOver(one) && one.status !== 'success' ? [{ job: one.id, why: errorOf(one) ?? statusText(one.status) }] : [],
    ),
  ]
  const waits = parts.some((one) => !isOver(one))
  const isA = (kind: RegExp) => job.ops.some(({ summary }) => kind.test(summary))
  if (isA(CHECKS)) {
    if (waits) return { tone: 'busy', text: own.checking, well: false, failed }
    const { found, broken } = verifiedOf(job, parts)
    const [problems, isBad] = [found.length + broken.length, found.some(({ level }) => level === 'error')]
    if (problems === 0) return { ...plain, well: true }
    return { tone: isBad || broken.length > 0 ? 'bad' : 'warn', text: own.problems(problems), well: false, failed }
  }
  const all = parts.length + refusedOf(job).length
  if (all === 0) return { ...plain, well: true }
  const done = parts.filter(({ status }) => status === 'success').length
  const progress = isA(MOVES) ? own.moved(done, all) : own.jobs(done, all)
  if (waits) return { tone: 'busy', text: progress, well: false, failed }
  if (failed.length > 0) return { tone: 'bad', text: own.failed(failed.length, all), well: false, failed }
  return { tone: 'good', text: own.done(progress), well: true, failed }
}

/** Whether a part of the job may still be running. */
export const followed = (job: Job | undefined): number[] => (job?.status === 'success' ? submittedOf(job) : [])
