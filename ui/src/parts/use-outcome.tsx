// Follows a job and the jobs that it has submitted.
import { useQueries } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Problem } from '../api/problem'
import { texts } from '../texts'
import { type Job, jobQuery, JobStatus } from './job'
import { followed, type Outcome, outcomeOf, submits } from './outcome'
import { Status } from './status'

/** Undefined until the submitted jobs are known. Those that are no longer stored, or that the user may not see, are left out. */
export function useOutcome(job: Job | undefined): Outcome | undefined {
  const all = useQueries({ queries: followed(job).map(jobQuery) })
  if (job === undefined || all.some(({ isPending }) => isPending)) return undefined
  return outcomeOf(
    job,
    all.flatMap(({ data, error }) => (isHidden(error) ? [] : (data ?? []))),
  )
}

const isHidden = (error: unknown): boolean => error instanceof Problem && (error.status === 404 || error.status === 403)

export function JobOutcome({ job }: { job: Job }) {
  const outcome = useOutcome(job)
  return outcome === undefined ? null : <Status tone={outcome.tone} text={outcome.text} />
}

/** For lists, whose jobs come without their results. Until the submitted jobs are known, it is the job's own state. */
export function ListedOutcome({ job }: { job: Job }) {
  const queries = job.status === 'success' && submits(job) ? [jobQuery(job.id)] : []
  const [whole] = useQueries({ queries })
  const outcome = useOutcome(whole?.data)
  return outcome === undefined ? <JobStatus status={job.status} /> : <Status tone={outcome.tone} text={outcome.text} />
}

/** The submitted jobs that failed. */
export const FailedParts = ({ failed }: Pick<Outcome, 'failed'>) =>
  failed.map(({ job, why }) => (
    <div key={`${job ?? ''} ${why}`} className="small" style={{ overflowWrap: 'anywhere' }}>
      {job !== undefined && (
        <Link to="/jobs/$id" params={{ id: String(job) }}>
          {texts.jobs.one(job)}
        </Link>
      )}{' '}
      {why}
    </div>
  ))
