// What happens to an instance: its events, its jobs, and who has its lock.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { api, got, send } from '../../api/client'
import { framesOf } from '../../api/events'
import { agoText, timeText } from '../../format/time'
import { Card, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { texts } from '../../texts'
import { RecentJobs } from '../jobs/recent-jobs'

const words = texts.instances.page

export function Activity({ name }: { name: string }) {
  return (
    <div className="columns">
      <Card title={texts.instances.recentJobs}>
        <RecentJobs about={name} />
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

/** How far back it is looked, and how many are shown. */
const BACK = 2000
const SHOWN_MAX = 50

function Events({ name }: { name: string }) {
  const [events, setEvents] = useState<readonly Told[]>([])
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    const leaving = new AbortController()
    setEvents([])
    const hear = (event: Told) => setEvents((before) => [event, ...before].slice(0, SHOWN_MAX))
    follow(name, leaving.signal, hear).catch((why: unknown) => {
      if (!leaving.signal.aborted) setError(why)
    })
    return () => leaving.abort()
  }, [name])
  return (
    <Card title={words.events}>
      <ProblemBox error={error} />
      {events.length === 0 && error === undefined && <Nothing text={words.noEvents} />}
      {events.map(({ id, time, text, job, user }) => (
        <div key={id} className="vt-row" style={{ gridTemplateColumns: 'minmax(0, 1fr) auto auto', minHeight: 34 }}>
          <span className="vt-cell">{text}</span>
          <span className="vt-cell">
            {job !== undefined && (
              <Link to="/jobs/$id" params={{ id: String(job) }}>
                {texts.jobs.one(job)}
              </Link>
            )}
            {user !== undefined && <span className="dim"> {user}</span>}
          </span>
          <span className="vt-cell dim" title={timeText(time)}>
            {agoText(time)}
          </span>
        </div>
      ))}
    </Card>
  )
}

/** From the events that the master still has, and on. */
async function follow(name: string, signal: AbortSignal, hear: (event: Told) => void): Promise<void> {
  const path = `/3/events?types=instance,config,watcher&objects=${encodeURIComponent(`instance/${name}`)}`
  const from = await startOf(path, signal)
  const answer = await send(new Request(path, { headers: { 'Last-Event-ID': from }, signal }))
  for await (const { id, type, data } of framesOf(answer)) {
    if (id === undefined || type === 'start' || type === 'gap' || type === 'end') continue
    hear(toldOf(id, type, JSON.parse(data) as Event))
  }
}

/** The stream begins with its newest event: events are numbered, so those before are known by their numbers. */
async function startOf(path: string, signal: AbortSignal): Promise<string> {
  const leaving = new AbortController()
  const stop = () => leaving.abort()
  signal.addEventListener('abort', stop)
  try {
    const answer = await send(new Request(path, { signal: leaving.signal }))
    for await (const { id } of framesOf(answer)) {
      const [, epoch = '', last = '0'] = /^(.*)-(\d+)$/.exec(id ?? '') ?? []
      return `${epoch}-${Math.max(0, Number(last) - BACK)}`
    }
    return ''
  } finally {
    signal.removeEventListener('abort', stop)
    leaving.abort()
  }
}

type Values = Readonly<Record<string, unknown>>

interface Event {
  readonly time: string
  readonly data: Values
}

function toldOf(id: string, type: string, { time, data }: Event): Told {
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
  const filter = JSON.stringify(['==', 'name', `instance/${name}`])
  const { data, error } = useQuery({
    // Jobs take and give locks, so it is asked for anew when one has changed.
    queryKey: ['jobs', 'list', 'lock', name],
    queryFn: () => got(api.GET('/3/locks', { params: { query: { filter } } })),
  })
  const [lock] = data?.items ?? []
  const owners = lock?.owner ?? []
  const waiting = (lock?.pending ?? []).flatMap((entry) => (Array.isArray(entry[1]) ? entry[1].map(String) : []))
  return (
    <Card title={words.lock}>
      <ProblemBox error={error} />
      {data !== undefined && owners.length === 0 && waiting.length === 0 && <Nothing text={words.noLock} />}
      {owners.length > 0 && <Nothing text={words.lockHeld(owners.join(', '), lock?.mode ?? '')} />}
      {waiting.length > 0 && <Nothing text={words.lockWaits(waiting.join(', '))} />}
    </Card>
  )
}
