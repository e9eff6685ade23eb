// Problems of instances and nodes, reports of monitoring, and findings of verify.
import { Button, UnstyledButton } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment, type ReactNode, useState } from 'react'
import { api, got } from '../../api/client'
import { useRefusal } from '../../api/session'
import { jobQuery } from '../../parts/job'
import { Card, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Status, type Tone } from '../../parts/status'
import { texts } from '../../texts'
import { findingsOf } from '../cluster/findings'
import { BAD_STATES } from '../instances/instance'
import { countOf, degradedNodes, outOfTheWay, type NodeProblem, problemsOf, submittedJobs } from './told'

const own = texts.overview
const COUNTED_MAX = 1000
const SHOWN_MAX = 6
const NODES_SHOWN = 3

const BAD_INSTANCES = JSON.stringify(['|', ...BAD_STATES.map((state) => ['==', 'status', state])])
const FLAGGED = JSON.stringify(['|', ['==', 'role', 'O'], ['==', 'role', 'D']])
const VERIFY = JSON.stringify(['=~', 'title', '^CLUSTER_VERIFY(\\(|$)'])

interface Finding {
  readonly tone: Tone
  readonly content: ReactNode
}

export function HealthCard() {
  const refusal = useRefusal()('nodes.query', 'machines')
  const monitored = refusal === undefined
  const instances = useBadInstances()
  const nodes = useFlaggedNodes()
  const monitoring = useMonitoring(monitored)
  const verify = useVerify()
  const findings = [...instances.findings, ...nodes.findings, ...verify, ...monitoring.findings]
  const known = instances.known && nodes.known && (monitoring.known || !monitored)
  const error = instances.error ?? nodes.error ?? monitoring.error
  return (
    <Card
      title={own.health}
      aside={
        <Button variant="subtle" size="compact-xs" loading={monitoring.busy} onClick={monitoring.ask}>
          {own.again}
        </Button>
      }
    >
      <ProblemBox error={error} />
      {known && findings.length === 0 && (
        <div className="finding">
          <Status tone="good" text={own.allWell} />
        </div>
      )}
      {findings.map(({ tone, content }, at) => (
        <div key={at} className="finding">
          <span className={`dot dot-${tone}`} aria-hidden="true" />
          <span>{content}</span>
        </div>
      ))}
      {refusal !== undefined && <Nothing text={`${own.monitoring}: ${own.notShown(refusal)}`} />}
      {!known && !error && <Nothing text={texts.table.loading} />}
    </Card>
  )
}

function useBadInstances() {
  const { data, error } = useQuery({
    queryKey: ['instances', 'list', 'bad'],
    queryFn: () => {
      const query = { fields: 'name,status', known: true, filter: BAD_INSTANCES, limit: COUNTED_MAX }
      return got(api.GET('/3/instances', { params: { query } }))
    },
  })
  const findings = countOf((data?.items ?? []).flatMap(({ status }) => status ?? [])).map(
    ({ value, count }): Finding => ({
      tone: 'bad',
      content: (
        <Link to="/instances" search={{ status: value }}>
          {own.badInstances(count, texts.instances.status[value] ?? value)}
        </Link>
      ),
    }),
  )
  return { findings, error, known: data !== undefined }
}

function useFlaggedNodes() {
  const { data, error } = useQuery({
    queryKey: ['nodes', 'list', 'flags'],
    queryFn: () => {
      const query = { fields: 'name,role', known: true, filter: FLAGGED, limit: COUNTED_MAX }
      return got(api.GET('/3/nodes', { params: { query } }))
    },
  })
  const { O: offline, D: drained } = outOfTheWay(data?.items ?? [])
  const toNodes = (role: string, text: string) => (
    <Link to="/nodes" search={{ role }}>
      {text}
    </Link>
  )
  const findings: Finding[] = [
    ...(offline > 0 ? [{ tone: 'bad' as const, content: toNodes('O', own.offlineNodes(offline)) }] : []),
    ...(drained > 0 ? [{ tone: 'warn' as const, content: toNodes('D', own.drainedNodes(drained)) }] : []),
  ]
  return { findings, error, known: data !== undefined }
}

/** Asks all nodes once, and again when the user refreshes. */
function useMonitoring(enabled: boolean) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['monitoring', 'problems'],
    queryFn: () =>
      got(
        api.GET('/3/monitoring', { params: { query: { fields: 'node,answer,status,problems', limit: COUNTED_MAX } } }),
      ),
    staleTime: 'static',
    enabled,
  })
  const items = data?.items ?? []
  const degraded = degradedNodes(items)
  const problems = problemsOf(items)
  const [first, others] = [problems.slice(0, SHOWN_MAX), problems.slice(SHOWN_MAX)]
  const findings: Finding[] = [
    ...(degraded.length === 0
      ? []
      : [
          {
            tone: 'bad' as const,
            content: (
              <>
                {own.degradedDisks(degraded.length)}: <NodeLinks names={degraded} />
              </>
            ),
          },
        ]),
    ...first.map((problem): Finding => ({ tone: toneOf(problem), content: <ProblemLine {...problem} /> })),
    ...(others.length > 0 ? [{ tone: 'warn' as const, content: <OtherProblems problems={others} /> }] : []),
  ]
  return { findings, error, busy: isFetching, known: data !== undefined, ask: () => void refetch() }
}

const toneOf = ({ bad }: NodeProblem): Tone => (bad ? 'bad' : 'warn')

const ProblemLine = ({ nodes, collector, message }: NodeProblem) => (
  <>
    <NodeLinks names={nodes} /> {collector !== null && `${collector}: `}
    {message}
  </>
)

function OtherProblems({ problems }: { problems: readonly NodeProblem[] }) {
  return (
    <details>
      <summary>{own.more(problems.length)}</summary>
      {problems.map((problem, at) => (
        <div key={at} className="finding">
          <span className={`dot dot-${toneOf(problem)}`} aria-hidden="true" />
          <span>
            <ProblemLine {...problem} />
          </span>
        </div>
      ))}
    </details>
  )
}

/** Links to the pages of nodes. A long list is collapsed. */
function NodeLinks({ names }: { names: readonly string[] }) {
  const [all, setAll] = useState(false)
  const shown = all ? names : names.slice(0, NODES_SHOWN)
  return (
    <>
      {shown.map((name, at) => (
        <Fragment key={name}>
          {at > 0 && ', '}
          <Link to="/nodes/$name" params={{ name }}>
            {name}
          </Link>
        </Fragment>
      ))}
      {shown.length < names.length && (
        <>
          {' '}
          <UnstyledButton className="more-link" onClick={() => setAll(true)}>
            {own.more(names.length - shown.length)}
          </UnstyledButton>
        </>
      )}
    </>
  )
}

/** The last verification, if its jobs are still stored. */
function useVerify(): Finding[] {
  const last = useQuery({
    queryKey: ['jobs', 'list', 'verify'],
    queryFn: () =>
      got(api.GET('/3/jobs', { params: { query: { filter: VERIFY, sort: '-id', limit: 1, include: 'result' } } })),
  })
  const [job] = last.data?.items ?? []
  const parts = useQueries({ queries: (job === undefined ? [] : submittedJobs(job)).map(jobQuery) })
  const found = parts.flatMap(({ data }) =>
    data === undefined ? [] : findingsOf(data).map((one) => ({ one, job: data })),
  )
  const [first] = found
  if (last.data !== undefined && job === undefined)
    return [
      {
        tone: 'warn',
        content: (
          <Link to="/cluster" search={{}}>
            {own.neverVerified}
          </Link>
        ),
      },
    ]
  if (first === undefined) return []
  const bad = found.some(({ one }) => one.level === 'error')
  return [
    {
      tone: bad ? 'bad' : 'warn',
      content: (
        <Link to="/jobs/$id" params={{ id: String(first.job.id) }}>
          {own.verify(found.length, first.job.id)}
        </Link>
      ),
    },
  ]
}
