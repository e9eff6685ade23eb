// Submits a job through /3, from any address: once for each key, and only if the objects are as the caller saw them. If the job ends while
// the caller is willing to wait, the ended job is the answer.
import { createHash } from 'node:crypto'
import { canonicalJson } from '../../../lib/text/canonical-json'
import { Quota } from '../../../lib/net/quota'
import {
  IDEMPOTENCY_KEY_BYTES_MAX,
  JOB_PREFER_WAIT_S,
  JOB_PREFER_WAITS_MAX,
  JOB_PREFER_WAITS_PER_USER_MAX,
} from '../../../model/limits/rapi-v3'
import type { ParsedOpCode } from '../../../opcodes/index'
import { ALL_JOB_PARTS, type Job, jobFields, jobOf } from '../../../query/job-shape'
import type { V3Request } from '../context'
import { badRequest } from '../../../http/errors'
import { readIfMatch } from './if-match'
import { readPrefer } from './prefer'

/** The submitted job. */
export interface JobAccepted {
  id: number
}

export interface Submission {
  readonly ops: readonly ParsedOpCode[]
  readonly reason: string | null
  readonly plan: string | null
  /** The headers of these names. */
  readonly key: string | undefined
  readonly ifMatch: string | undefined
  readonly prefer: string | undefined
}

export async function submit(
  v3: V3Request,
  submission: Submission,
  signal: () => AbortSignal,
): Promise<JobAccepted | Job> {
  const { ops, reason, plan, key, ifMatch, prefer } = submission
  if (key !== undefined && (key === '' || Buffer.byteLength(key) > IDEMPOTENCY_KEY_BYTES_MAX))
    throw badRequest(`Idempotency-Key: must have from 1 to ${IDEMPOTENCY_KEY_BYTES_MAX} bytes`)
  const { identity, gantry, reply } = v3
  const digest = createHash('sha256')
    .update(canonicalJson({ ops, reason, plan }))
    .update(ifMatch ?? '')
    .digest('hex')
  const request = { ops, reason, plan, key: key ?? null, digest, match: readIfMatch(ifMatch) }
  const { job, replayed } = await gantry.submit(identity, request, signal())
  reply.headers['Location'] = `/3/jobs/${job}`
  if (replayed) reply.headers['Idempotent-Replayed'] = 'true'
  const ended = await waitFor(v3, job, Math.min(readPrefer(prefer) ?? 0, JOB_PREFER_WAIT_S), signal)
  reply.status = ended === undefined ? 202 : 200
  return ended ?? { id: job }
}

const waits = new Quota({ all: JOB_PREFER_WAITS_MAX, each: JOB_PREFER_WAITS_PER_USER_MAX })

/** Returns the job if it ends in time. Undefined also if too many requests are already waiting, of all users or of this one. */
async function waitFor(
  { identity, gantry }: V3Request,
  job: number,
  wait_s: number,
  signal: () => AbortSignal,
): Promise<Job | undefined> {
  if (wait_s === 0 || waits.full(identity.user) !== undefined) return undefined
  const leave = waits.take(identity.user)
  try {
    if (!(await gantry.wait(identity, job, wait_s, signal()))) return undefined
    const fields = jobFields(ALL_JOB_PARTS)
    const { rows } = await gantry.view(identity, {
      what: 'job',
      name: String(job),
      fields,
      filter: null,
      after: null,
      limit: 1,
      known: true,
      sort: null,
    })
    return jobOf(Object.fromEntries(fields.map((field, at) => [field, rows[0]?.[at]])), ALL_JOB_PARTS)
  } catch {
    // The job exists even if waiting for it has failed, so its number is the answer.
    return undefined
  } finally {
    leave()
  }
}
