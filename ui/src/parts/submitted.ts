// The jobs that a job's opcodes submitted. A result lists them: `{ jobs: [[submitted, number or error]] }`.
import type { Job } from './job-state'

type Entry = readonly [submitted: boolean, idOrWhy: unknown]

const entriesOf = ({ ops }: Pick<Job, 'ops'>): Entry[] =>
  ops.flatMap(({ result }) => {
    const jobs: unknown = typeof result === 'object' && result !== null && 'jobs' in result ? result.jobs : undefined
    return (Array.isArray(jobs) ? (jobs as unknown[]) : []).flatMap((entry) =>
      Array.isArray(entry) ? [[entry[0] !== false, entry[1]] as const] : [],
    )
  })

export const submittedOf = (job: Pick<Job, 'ops'>): number[] =>
  entriesOf(job).flatMap(([, id]) => (typeof id === 'number' ? [id] : []))

/** Why jobs could not be submitted. */
export const refusedOf = (job: Pick<Job, 'ops'>): string[] =>
  entriesOf(job).flatMap(([submitted, why]) => (submitted ? [] : [String(why)]))
