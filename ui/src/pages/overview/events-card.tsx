// What has happened last, but for jobs, which have cards of their own.
import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { followFromBefore } from '../../api/past-events'
import { useMay } from '../../api/session'
import { agoText, timeText } from '../../format/time'
import { Card, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { texts } from '../../texts'
import { isTold, type ToldEvent, toldOf } from './told'

const own = texts.overview.events
const TYPES = 'config,instance,node,master,watcher,maintenance'
const SHOWN_MAX = 10
/** Many come at once; a list is read by people. */
const TOGETHER_MS = 500

export function EventsCard() {
  const allowed = useMay()('events.query')
  const { events, error } = useLastEvents(allowed)
  return (
    <Card title={own.title}>
      <ProblemBox error={error} />
      {!allowed && <Nothing text={texts.overview.notAllowed('events.query')} />}
      {allowed && events.length === 0 && error === undefined && <Nothing text={own.none} />}
      {events.map(({ id, time, text, kind, name, job }) => (
        <div key={id} className="vt-row" style={{ gridTemplateColumns: 'minmax(0, 1fr) auto auto', minHeight: 34 }}>
          <span className="vt-cell">
            <ObjectName kind={kind} name={name} /> {text}
          </span>
          <span className="vt-cell">
            {job !== undefined && (
              <Link to="/jobs/$id" params={{ id: String(job) }}>
                {texts.jobs.one(job)}
              </Link>
            )}
          </span>
          <span className="vt-cell dim" title={timeText(time)}>
            {agoText(time)}
          </span>
        </div>
      ))}
    </Card>
  )
}

function useLastEvents(allowed: boolean) {
  const [events, setEvents] = useState<readonly ToldEvent[]>([])
  const [error, setError] = useState<unknown>()
  useEffect(() => {
    if (!allowed) return undefined
    const leaving = new AbortController()
    let heard: readonly ToldEvent[] = []
    let timer: number | undefined
    followFromBefore({ types: TYPES }, leaving.signal, (event) => {
      if (!isTold(event)) return
      heard = [toldOf(event), ...heard].slice(0, SHOWN_MAX)
      timer ??= window.setTimeout(() => {
        timer = undefined
        setEvents(heard)
      }, TOGETHER_MS)
    }).catch((why: unknown) => {
      if (!leaving.signal.aborted) setError(why)
    })
    return () => {
      leaving.abort()
      window.clearTimeout(timer)
    }
  }, [allowed])
  return { events, error }
}

function ObjectName({ kind, name }: { kind?: string; name: string }): ReactNode {
  if (kind === 'instance')
    return (
      <Link to="/instances/$name" params={{ name }}>
        {name}
      </Link>
    )
  if (kind === 'node')
    return (
      <Link to="/nodes/$name" params={{ name }}>
        {name}
      </Link>
    )
  return kind === undefined ? name : `${kind} ${name}`
}
