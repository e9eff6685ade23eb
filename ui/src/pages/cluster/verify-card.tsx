// The last verification and its findings. The job of verify submits further jobs, which make the checks.
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import { isOver, jobQuery } from '../../parts/job'
import { ObjectLink } from '../../parts/names'
import { Card, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Rows } from '../../parts/rows'
import { Status } from '../../parts/status'
import { texts } from '../../texts'
import { submittedOf } from '../jobs/trail'
import { findingsOf } from './findings'

const own = texts.cluster.verify
const LAST = JSON.stringify(['=~', 'title', '^CLUSTER_VERIFY(\\(|$)'])

export function VerifyCard() {
  const last = useQuery({
    queryKey: ['jobs', 'list', 'verify'],
    queryFn: () => got(api.GET('/3/jobs', { params: { query: { filter: LAST, sort: '-id', limit: 1 } } })),
  })
  const id = last.data?.items[0]?.id
  return (
    <Card title={own.title}>
      <Nothing text={own.text} />
      <ProblemBox error={last.error} retry={() => void last.refetch()} />
      {last.data && id === undefined && <Nothing text={own.none} />}
      {id !== undefined && <Found id={id} />}
    </Card>
  )
}

function Found({ id }: { id: number }) {
  const { data: job, error } = useQuery(jobQuery(id))
  const parts = useQueries({ queries: (job === undefined ? [] : submittedOf(job)).map(jobQuery) })
  if (error) return <ProblemBox error={error} />
  const jobs = [...(job === undefined ? [] : [job]), ...parts.flatMap(({ data }) => data ?? [])]
  const done = job !== undefined && parts.every(({ data }) => data !== undefined) && jobs.every(isOver)
  const findings = jobs.flatMap(findingsOf)
  const text = done ? (findings.length === 0 ? own.well(id) : own.found(findings.length, id)) : own.running(id)
  const bad = findings.some(({ level }) => level === 'error')
  return (
    <>
      <div className="line">
        <Link to="/jobs/$id" params={{ id: String(id) }}>
          <Status tone={!done ? 'busy' : bad ? 'bad' : findings.length > 0 ? 'warn' : 'good'} text={text} />
        </Link>
      </div>
      {findings.length > 0 && (
        <Rows
          label={own.title}
          head={own.columns}
          none={own.none}
          rows={findings.map(({ level, kind, name, text: told }) => [
            <Status key="level" tone={level === 'error' ? 'bad' : 'warn'} text={own.level[level] ?? level} />,
            name === '' ? kind : <ObjectLink key="object" kind={kind} name={name} />,
            told,
          ])}
        />
      )}
    </>
  )
}
