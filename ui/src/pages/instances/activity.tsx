// The activity of an instance: its events, its jobs and its lock.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type PastEvent, pastEventsQuery } from '../../api/past-events'
import { useRefusal } from '../../api/session'
import { Ago } from '../../parts/time'
import { Card, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { texts } from '../../texts'
import { Holders, lockQuery } from '../jobs/locks'
import { RecentJobs } from '../jobs/recent-jobs'
import { ownersOf, waitingFor } from '../jobs/waits'

const words = texts.instances.page

export function Activity({ name }: { name: string }) {
  return (
    <div className="columns">
      <Card title={texts.instances.recentJobs}>
        <RecentJobs about={`instance/${name}`} />
      </Card>
      <Events name={name} />
      <Locks name={name} />
    </div>
  )
}

interface Told {
  readonly id: string
  readonly time: string
  readonly text: string
  readonly job?: number
  readonly user?: string
}

function Events({ name }: { name: string }) {
  const refusal = useRefusal()('events.query')
  const desired = { types: 'instance,config,watcher', objects: `instance/${name}` }
  const { data, error, refetch } = useQuery({ ...pastEventsQuery(desired), enabled: refusal === undefined })
  const events = (data?.items ?? []).map(toldOf)
  return (
    <Card title={words.events}>
      <ProblemBox error={error} retry={() => void refetch()} />
      {refusal !== undefined && <Nothing text={texts.overview.notShown(refusal)} />}
      {data !== undefined && events.length === 0 && <Nothing text={words.noEvents} />}
      {events.map(({ id, time, text, job, user }) => (
        <div key={id} className="vt-row" style={{ gridTemplateColumns: 'minmax(0, 1fr) auto auto', minHeight: 34 }}>
          <span className="vt-cell event-told">{text}</span>
          <span className="vt-cell">
            {job !== undefined && (
              <Link to="/jobs/$id" params={{ id: String(job) }}>
                {texts.jobs.one(job)}
              </Link>
            )}
            {user !== undefined && <span className="dim"> {user}</span>}
          </span>
          <span className="vt-cell dim">
            <Ago time={time} />
          </span>
        </div>
      ))}
    </Card>
  )
}

type Values = Readonly<Record<string, unknown>>

function toldOf({ id, type, time, data }: PastEvent): Told {
  const cause = (data['cause'] ?? {}) as Values
  const change = (data['config'] ?? {}) as Values
  const [job] = Array.isArray(change['jobs']) ? change['jobs'] : [cause['job']]
  const [user] = Array.isArray(change['who']) ? change['who'] : [cause['user']]
  const what = String(data['change'] ?? type)
  return {
    ...{ id, time, text: words.event[what] ?? what },
    ...(typeof job === 'number' ? { job } : {}),
    ...(typeof user === 'string' ? { user } : {}),
  }
}

function Locks({ name }: { name: string }) {
  const refusal = useRefusal()('locks.list')
  const { data, error } = useQuery({ ...lockQuery(`instance/${name}`), enabled: refusal === undefined })
  const [lock] = data?.items ?? []
  const [owners, waiting] = lock === undefined ? [[], []] : [ownersOf(lock), waitingFor(lock)]
  const { mode, held, waitsFor } = texts.jobs.locks
  return (
    <Card title={words.lock}>
      <ProblemBox error={error} />
      {refusal !== undefined && <Nothing text={texts.overview.notShown(refusal)} />}
      {data !== undefined && owners.length === 0 && waiting.length === 0 && <Nothing text={words.noLock} />}
      {owners.length > 0 && (
        <div className="finding">
          <Holders holders={owners} /> {held(mode[lock?.mode ?? ''] ?? '')}
        </div>
      )}
      {waiting.length > 0 && (
        <div className="finding">
          <Holders holders={waiting} /> {waitsFor}
        </div>
      )}
    </Card>
  )
}
