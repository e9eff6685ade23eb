// Is all well: instances, nodes, what monitoring reports and what verify has found.
import { Button } from '@mantine/core'
import { useQueries, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { api, got } from '../../api/client'
import { useMay } from '../../api/session'
import { jobQuery } from '../../parts/job'
import { Card, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Status, type Tone } from '../../parts/status'
import { texts } from '../../texts'
import { findingsOf } from '../cluster/findings'
import { BAD_STATES } from '../instances/instance'
import { countOf, degradedNodes, problemsOf, submittedJobs } from './told'

const own = texts.overview
const COUNTED_MAX = 1000
const SHOWN_MAX = 6

const BAD_INSTANCES = JSON.stringify(['|', ...BAD_STATES.map((state) => ['==', 'status', state])])
const FLAGGED = JSON.stringify(['|', ['==', 'role', 'O'], ['==', 'role', 'D']])
const VERIFY = JSON.stringify(['=~', 'title', '^CLUSTER_VERIFY(\\(|$)'])

interface Finding {
  readonly tone: Tone
  readonly content: ReactNode
}

export function HealthCard() {
  const may = useMay()
  const monitored = may('nodes.query')
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
      {!monitored && <Nothing text={`${own.monitoring}: ${own.notAllowed('nodes.query')}`} />}
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
      const query = { fields: 'name,offline,drained', known: true, filter: FLAGGED, limit: COUNTED_MAX }
      return got(api.GET('/3/nodes', { params: { query } }))
    },
  })
  const flagged = data?.items ?? []
  const offline = flagged.filter((node) => node.offline).length
  const drained = flagged.length - offline
  const toNodes = (text: string) => (
    <Link to="/nodes" search={{ sort: '-role' }}>
      {text}
    </Link>
  )
  const findings: Finding[] = [
    ...(offline > 0 ? [{ tone: 'bad' as const, content: toNodes(own.offlineNodes(offline)) }] : []),
    ...(drained > 0 ? [{ tone: 'warn' as const, content: toNodes(own.drainedNodes(drained)) }] : []),
  ]
  return { findings, error, known: data !== undefined }
}

/** All nodes are asked for it: once, and when somebody wants it again. */
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
  const toNode = (name: string, text: string) => (
    <Link to="/nodes/$name" params={{ name }}>
      {text}
    </Link>
  )
  const findings: Finding[] = [
    ...(degraded[0] === undefined
      ? []
      : [{ tone: 'bad' as const, content: toNode(degraded[0], own.degradedDisks(degraded.length)) }]),
    ...problems.slice(0, SHOWN_MAX).map(({ nodes: [node = '', ...others], collector, message, bad }): Finding => ({
      tone: bad ? 'bad' : 'warn',
      content: (
        <>
          {toNode(node, node)} {others.length > 0 && `${own.more(others.length)} `}
          {collector !== null && `${collector}: `}
          {message}
        </>
      ),
    })),
    ...(problems.length > SHOWN_MAX ? [{ tone: 'warn' as const, content: own.more(problems.length - SHOWN_MAX) }] : []),
  ]
  return { findings, error, busy: isFetching, known: data !== undefined, ask: () => void refetch() }
}

/** The last verification, as far as its jobs are still known. */
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
