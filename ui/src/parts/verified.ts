// How a verification of the cluster went. Verify is a job that submits others, which do the looking.
import type { components } from '../api/schema'
import { texts } from '../texts'
import { type Finding, findingsOf } from './findings'
import { refusedOf } from './submitted'

type Job = components['schemas']['Job']

/** A finding, and the number of the job that has told it. */
export type FoundBy = Finding & { readonly job: number }

/** What kept a part of the verification from looking to its end. */
export interface Broken {
  readonly job: number
  readonly why: string
}

/** A verification is well only if it has looked to its end and found nothing. `running`: more may be found. */
export interface Verified {
  readonly id: number
  readonly running: boolean
  readonly found: readonly FoundBy[]
  readonly broken: readonly Broken[]
}

/** `parts`: the jobs that it has submitted; `gone`: the numbers of those that nobody knows any more. */
export function verifiedOf(job: Job, parts: readonly Job[], gone: readonly number[] = []): Verified {
  const jobs = [job, ...parts]
  const found = jobs.flatMap((one) => findingsOf(one).map((finding) => ({ ...finding, job: one.id })))
  const refused = refusedOf(job).map((why) => ({ job: job.id, why }))
  return {
    ...{ id: job.id, running: jobs.some(({ ended }) => ended === null), found },
    broken: [
      ...jobs.flatMap((one) => brokenOf(one, found)),
      ...refused,
      ...gone.map((one) => ({ job: one, why: texts.cluster.verify.gone })),
    ],
  }
}

function brokenOf(job: Job, found: readonly FoundBy[]): Broken[] {
  if (job.status === 'error' || job.status === 'canceled')
    return [{ job: job.id, why: job.ops.find(({ error }) => error)?.error?.message ?? job.status }]
  // It says that not all is well, and has not said what in a way that is understood here.
  const isBad = job.ops.some(({ result }) => result === false)
  return isBad && !found.some((one) => one.job === job.id && one.level === 'error') ? [{ job: job.id, why: '' }] : []
}
