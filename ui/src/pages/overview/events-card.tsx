// Recent events. Jobs have their own cards.
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { pastEventsQuery } from '../../api/past-events'
import { useRefusal } from '../../api/session'
import { ObjectLink } from '../../parts/names'
import { Card, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Ago } from '../../parts/time'
import { texts } from '../../texts'
import { type ToldEvent, toldEvents } from './summary-data'

const own = texts.overview.events
const TYPES = 'config,instance,node,master,watcher,maintenance'
const SHOWN_MAX = 10

export function EventsCard() {
  const refusal = useRefusal()('events.query')
  const { data, error, refetch } = useQuery({ ...pastEventsQuery({ types: TYPES }), enabled: refusal === undefined })
  const events = toldEvents(data?.items ?? []).slice(0, SHOWN_MAX)
  return (
    <Card title={own.title}>
      <ProblemBox error={error} retry={() => void refetch()} />
      {refusal !== undefined && <Nothing text={texts.overview.notShown(refusal)} />}
      {data !== undefined && events.length === 0 && <Nothing text={own.none} />}
      {events.map(({ id, time, text, kind, name, gone, job }) => (
        <div key={id} className="vt-row" style={{ gridTemplateColumns: 'minmax(0, 1fr) auto auto', minHeight: 34 }}>
          <span className="vt-cell event-told">
            <ObjectName kind={kind} name={name} gone={gone} /> {text}
          </span>
          <span className="vt-cell">
            {job !== undefined && (
              <Link to="/jobs/$id" params={{ id: String(job) }}>
                {texts.jobs.one(job)}
              </Link>
            )}
          </span>
          <span className="vt-cell dim">
            <Ago time={time} />
          </span>
        </div>
      ))}
    </Card>
  )
}

const LINKED = ['instance', 'node', 'group', 'network']

function ObjectName({ kind, name, gone }: Pick<ToldEvent, 'kind' | 'name' | 'gone'>): ReactNode {
  if (kind === undefined) return own.cluster[name] ?? name
  const displayed = kind === 'filter' ? own.rule(name) : name
  // A link would lead to an error.
  if (gone) return displayed
  if (LINKED.includes(kind)) return <ObjectLink kind={kind} name={name} />
  if (kind === 'filter')
    return (
      <Link to="/rules" search={{ q: name }}>
        {displayed}
      </Link>
    )
  return `${kind} ${name}`
}
