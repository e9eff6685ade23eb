// The latest jobs, or the latest jobs about an object.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import { useRefusal } from '../../api/session'
import { Ago } from '../../parts/time'
import { allOf } from '../../api/conditions'
import { type Job, summaryOf } from '../../parts/job'
import { Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { ListedOutcome } from '../../parts/use-outcome'
import { texts } from '../../texts'

interface RecentProps {
  /** Only jobs about this object: `instance/web1`. */
  readonly about?: string
  readonly status?: readonly string[]
  readonly none?: string
}

const SHOWN = 8

export function RecentJobs({ about, status, none = texts.instances.noJobs }: RecentProps) {
  const refusal = useRefusal()('jobs.list')
  const filter = recentFilter({ about, status })
  const { data, error } = useQuery({
    queryKey: ['jobs', 'list', 'recent', filter ?? ''],
    queryFn: () => got(api.GET('/3/jobs', { params: { query: { filter, limit: SHOWN, sort: '-id' } } })),
    enabled: refusal === undefined,
  })
  if (refusal !== undefined) return <Nothing text={texts.overview.notShown(refusal)} />
  if (error) return <ProblemBox error={error} />
  const jobs = data?.items ?? []
  if (jobs.length === 0) return <Nothing text={data === undefined ? texts.table.loading : none} />
  return (
    <div>
      {jobs.map((job) => (
        <Line key={job.id} job={job} />
      ))}
    </div>
  )
}

export const recentFilter = ({ about, status }: Pick<RecentProps, 'about' | 'status'>): string | undefined =>
  allOf([
    ...(about === undefined ? [] : [['=[]', 'objects', about]]),
    ...(status === undefined ? [] : [['|', ...status.map((one) => ['==', 'status', one])]]),
  ])

function Line({ job }: { job: Job }) {
  return (
    <div className="vt-row" style={{ gridTemplateColumns: 'minmax(0, 1fr) auto auto', minHeight: 34 }}>
      <span className="vt-cell">
        <Link to="/jobs/$id" params={{ id: String(job.id) }}>
          {summaryOf(job)}
        </Link>
      </span>
      <span className="vt-cell">
        <ListedOutcome job={job} />
      </span>
      <span className="vt-cell" style={{ color: 'var(--mantine-color-dimmed)' }}>
        <Ago time={job.received} />
      </span>
    </div>
  )
}
