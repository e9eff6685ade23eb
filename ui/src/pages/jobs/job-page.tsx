// The page of a job: its steps with live logs, and related jobs and locks.
import { Code } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useMay } from '../../api/session'
import { spanText } from '../../format/time'
import { Actions } from '../../parts/action'
import { isOver, type Job, jobQuery, JobStatus, summaryOf, tookMs } from '../../parts/job'
import { JobFailure } from '../../parts/job-failure'
import { submittedOf } from '../../parts/submitted'
import { FailedParts, JobOutcome, useOutcome } from '../../parts/use-outcome'
import { Card, Facts, Nothing, Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Time } from '../../parts/time'
import { texts } from '../../texts'
import { JOB_ACTIONS } from './actions'
import { LogText } from './log-text'
import { LockLink, locksOfJobQuery, lockText } from './locks'
import { dependenciesOf, reasonsOf, tokenOf, userOf } from './trail'
import { ownersOf } from './waits'

const own = texts.jobs
const route = getRouteApi('/jobs/$id')

export function JobPage() {
  const id = Number(route.useParams().id)
  const { data: job, error, refetch } = useQuery(jobQuery(id))
  return (
    <Page
      title={own.one(id)}
      note={job && <JobOutcome job={job} />}
      actions={job && <Actions subject={job} actions={JOB_ACTIONS} shown={3} />}
    >
      <ProblemBox error={error} retry={() => void refetch()} />
      {job && (
        <>
          <Card title={own.glance}>
            <Facts facts={factsOf(job)} />
          </Card>
          <Failures job={job} />
          {!isOver(job) && <Locks job={job.id} />}
          {job.ops.map((op, index) => (
            <Step key={index} job={job.id} op={op} title={`${index + 1}. ${op.summary}`} />
          ))}
        </>
      )}
    </Page>
  )
}

function factsOf(job: Job): [string, ReactNode][] {
  const took_ms = tookMs(job, Date.now())
  const [depends, submitted, reasons] = [dependenciesOf(job), submittedOf(job), reasonsOf(job)]
  const token = tokenOf(job)
  return [
    [own.columns.summary, summaryOf(job)],
    [own.user, [userOf(job) ?? own.master, ...(token === undefined ? [] : [own.token(token)])].join(', ')],
    ...(reasons.length === 0 ? [] : ([[own.reason, reasons.join('; ')]] as [string, ReactNode][])),
    [own.columns.received, <Time key="received" time={job.received} />],
    [own.started, <Time key="started" time={job.started} />],
    [own.ended, <Time key="ended" time={job.ended} />],
    [own.columns.took, took_ms === undefined ? '–' : spanText(took_ms)],
    [own.priority, String(job.priority)],
    ...(depends.length === 0
      ? []
      : ([
          [
            own.depends,
            depends.map(({ job: id, statuses }) => (
              <div key={id}>
                <JobLink id={id} />{' '}
                {own.dependsOn(statuses.map((status) => own.status[status] ?? status).join(', ') || own.any)}
              </div>
            )),
          ],
        ] as [string, ReactNode][])),
    ...(submitted.length === 0
      ? []
      : ([[own.submitted, submitted.map((id) => <Submitted key={id} id={id} />)]] as [string, ReactNode][])),
    ...(job.archived ? ([['', own.archived]] as [string, ReactNode][]) : []),
  ]
}

export const JobLink = ({ id }: { id: number }) => (
  <Link to="/jobs/$id" params={{ id: String(id) }}>
    {own.one(id)}
  </Link>
)

/** A submitted job with its state. */
function Submitted({ id }: { id: number }) {
  const { data: job } = useQuery(jobQuery(id))
  return (
    <div>
      <JobLink id={id} /> {job && <JobStatus status={job.status} />} {job && summaryOf(job)}
    </div>
  )
}

function Failures({ job }: { job: Job }) {
  const { failed = [] } = useOutcome(job) ?? {}
  if (failed.length === 0) return null
  return (
    <Card title={own.outcome.failedJobs}>
      <div style={{ padding: '8px 14px' }}>
        <FailedParts failed={failed} />
      </div>
    </Card>
  )
}

/** The locks that an unfinished job holds and waits for. */
function Locks({ job }: { job: number }) {
  const may = useMay()
  const enabled = may('locks.list')
  const waits = useQuery({ ...locksOfJobQuery(job, 'waiting'), enabled }).data
  const holds = useQuery({ ...locksOfJobQuery(job, 'owner'), enabled }).data
  if (waits === undefined || holds === undefined || waits.items.length + holds.items.length === 0) return null
  const more = (next: string | null): string => (next === null ? '' : own.locks.andMore)
  const links = waits.items.map((lock) => <LockLink key={lock.name} lock={lock} holders={ownersOf(lock)} />)
  return (
    <Card title={own.locks.title}>
      <Facts
        facts={[
          [own.locks.waits, links.length > 0 && [...links, more(waits.next)]],
          [own.locks.holds, `${holds.items.map(lockText).join(', ')}${more(holds.next)}`],
        ]}
      />
    </Card>
  )
}

function Step({ job, op, title }: { job: number; op: Job['ops'][number]; title: string }) {
  const log = op.log ?? []
  return (
    <Card title={title} aside={<JobStatus status={op.status} />}>
      {op.error && (
        <div style={{ padding: '12px 14px 0' }}>
          <JobFailure id={job} error={op.error} />
        </div>
      )}
      {log.length === 0 ? (
        <Nothing text={op.ended === null ? own.noLogYet : own.noLog} />
      ) : (
        <LogText label={`${own.log}: ${title}`} lines={log} grows={op.ended === null} />
      )}
      <Data title={own.input} of={title} value={op.input ?? {}} />
      {op.result !== null && op.result !== undefined && <Data title={own.result} of={title} value={op.result} />}
    </Card>
  )
}

function Data({ title, of, value }: { title: string; of: string; value: unknown }) {
  return (
    <details className="more">
      <summary>{title}</summary>
      <Code block tabIndex={0} aria-label={`${title}: ${of}`} mah={400} style={{ overflow: 'auto' }}>
        {JSON.stringify(value, null, 2)}
      </Code>
    </details>
  )
}
