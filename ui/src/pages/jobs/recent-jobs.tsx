// The last jobs, or those among them that were about something.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import { agoText } from '../../format/time'
import { type Job, JobStatus, summaryOf } from '../../parts/job'
import { Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { texts } from '../../texts'

interface RecentProps {
  /** Only those whose summary names it. */
  readonly about?: string
  readonly status?: readonly string[]
  readonly none?: string
}

const SHOWN = 8

export function RecentJobs({ about, status, none = texts.instances.noJobs }: RecentProps) {
  const filter = status === undefined ? undefined : JSON.stringify(['|', ...status.map((one) => ['==', 'status', one])])
  const { data, error } = useQuery({
    queryKey: ['jobs', 'list', 'recent', filter ?? ''],
    queryFn: () => got(api.GET('/3/jobs', { params: { query: { filter, limit: 200, sort: '-id' } } })),
  })
  if (error) return <ProblemBox error={error} />
  const jobs = (data?.items ?? []).filter((job) => about === undefined || summaryOf(job).includes(`(${about})`))
  if (jobs.length === 0) return <Nothing text={data === undefined ? texts.table.loading : none} />
  return (
    <div>
      {jobs.slice(0, SHOWN).map((job) => (
        <Line key={job.id} job={job} />
      ))}
    </div>
  )
}

function Line({ job }: { job: Job }) {
  return (
    <div className="vt-row" style={{ gridTemplateColumns: 'minmax(0, 1fr) auto auto', minHeight: 34 }}>
      <span className="vt-cell">
        <Link to="/jobs/$id" params={{ id: String(job.id) }}>
          {summaryOf(job)}
        </Link>
      </span>
      <span className="vt-cell">
        <JobStatus status={job.status} />
      </span>
      <span className="vt-cell" style={{ color: 'var(--mantine-color-dimmed)' }}>
        {agoText(job.received)}
      </span>
    </div>
  )
}
