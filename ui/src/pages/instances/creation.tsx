// An instance that is just being created: before the job has written the configuration, its page shows the job's log.
import { useQuery } from '@tanstack/react-query'
import { useRouterState } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import { useMay } from '../../api/session'
import { allOf } from '../../api/conditions'
import { errorOf, isOver, type Job, jobQuery, JobStatus } from '../../parts/job'
import { JobFailure } from '../../parts/job-failure'
import { Card, Nothing } from '../../parts/page'
import { texts } from '../../texts'
import { JobLink } from '../jobs/job-page'
import { LogText } from '../jobs/log-text'
import { stillThere } from './chosen'

const own = texts.instances.page

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The job that creates the instance of this page. */
    readonly creating?: number
  }
}

export interface Creation {
  /** The job, until it has succeeded. */
  readonly job: Job | undefined
  /** Whether the instance can be asked for. */
  readonly ready: boolean
}

/** `missing`: the instance was asked for, and there is none. */
export function useCreation(name: string, missing: boolean): Creation {
  const may = useMay()('jobs.list')
  const begun = useRouterState({ select: ({ location }) => location.state.creating })
  // Somebody else may be creating it.
  const { data: found } = useQuery({
    queryKey: ['jobs', 'list', 'creating', name],
    queryFn: () =>
      got(api.GET('/3/jobs', { params: { query: { filter: creatingFilter(name), sort: '-id', limit: 1 } } })),
    enabled: missing && begun === undefined && may,
  })
  const id = begun ?? found?.items[0]?.id
  const { data: job } = useQuery({ ...jobQuery(id ?? 0), enabled: id !== undefined })
  const waits = begun !== undefined && (job === undefined || !isOver(job))
  const { data: there } = useQuery({
    queryKey: ['instances', 'list', 'there', name],
    queryFn: () => stillThere([name]),
    enabled: waits,
  })
  return { job: job?.status === 'success' ? undefined : job, ready: !waits || there?.includes(name) === true }
}

export const creatingFilter = (name: string): string =>
  allOf([
    ['=[]', 'objects', `instance/${name}`],
    ['=~', 'title', '^INSTANCE_CREATE'],
    ['|', ...['queued', 'waiting', 'running'].map((status) => ['==', 'status', status])],
  ]) ?? ''

export function CreationCard({ job }: { job: Job }) {
  const { id, ops } = job
  const log = ops.flatMap((op) => op.log ?? [])
  const failed = errorOf(job) === undefined ? undefined : ops.find(({ error }) => error)?.error
  return (
    <Card
      title={isOver(job) ? own.notCreated : own.beingCreated}
      aside={
        <span>
          <JobStatus status={job.status} /> <JobLink id={id} />
        </span>
      }
    >
      {failed && (
        <div style={{ padding: '12px 14px 0' }}>
          <JobFailure id={id} error={failed} />
        </div>
      )}
      {log.length === 0 ? (
        <Nothing text={texts.jobs.noLogYet} />
      ) : (
        <LogText label={texts.jobs.log} lines={log} grows={!isOver(job)} />
      )}
    </Card>
  )
}
