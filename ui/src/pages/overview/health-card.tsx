// Problems of instances and nodes, reports of monitoring, and findings of verify.
import { UnstyledButton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Fragment, type ReactNode, useState } from 'react'
import { WITHOUT_INSTANCES } from '../../api/changes'
import { api, got } from '../../api/client'
import { timed } from '../../api/last-change'
import { useRefusal } from '../../api/session'
import { AskAgain, Asked } from '../../parts/stale-notice'
import { Card, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { monitoringQuestion, PROBLEMS } from '../../parts/question-request'
import { Status, type Tone } from '../../parts/status'
import { texts } from '../../texts'
import { useVerified } from '../cluster/use-verified'
import type { Verified } from '../../parts/verified'
import { BAD_STATES } from '../instances/instance'
import { countOf, degradedNodes, outOfTheWay, type NodeProblem, problemsOf } from './summary-data'

const own = texts.overview
const QUESTION = monitoringQuestion()
const COUNTED_MAX = 1000
const SHOWN_MAX = 6
const NODES_SHOWN = 3

const BAD_INSTANCES = JSON.stringify(['|', ...BAD_STATES.map((state) => ['==', 'status', state])])
const FLAGGED = JSON.stringify(['|', ['==', 'role', 'O'], ['==', 'role', 'D']])

interface Finding {
  readonly tone: Tone
  readonly content: ReactNode
}

export function HealthCard() {
  const refusal = useRefusal()
  const unmonitored = refusal('nodes.query', 'machines')
  const unverified = refusal('jobs.list') ?? refusal('jobs.query')
  const [instancesUnseen, nodesUnseen] = [refusal('instances.list'), refusal('nodes.list')]
  const instances = useBadInstances(instancesUnseen === undefined)
  const nodes = useFlaggedNodes(nodesUnseen === undefined)
  const monitoring = useMonitoring(unmonitored === undefined)
  const verify = useVerify(unverified === undefined)
  const parts = [
    { title: texts.nav.instances, part: instances, unseen: instancesUnseen },
    { title: texts.nav.nodes, part: nodes, unseen: nodesUnseen },
    { title: own.verification, part: verify, unseen: unverified },
    { title: own.monitoring, part: monitoring, unseen: unmonitored },
  ]
  const requested = parts.flatMap(({ part, unseen }) => (unseen === undefined ? [part] : []))
  const findings = requested.flatMap((one) => one.findings)
  const error = requested.map((one) => one.error).find((one) => one !== null) ?? null
  const known = requested.every((one) => one.known)
  const isWell = requested.length > 0 && known && error === null && findings.length === 0
  const whole = requested.length === parts.length
  return (
    <Card
      title={own.health}
      aside={
        <AskAgain
          requests={[QUESTION]}
          disabled={unmonitored !== undefined}
          busy={monitoring.busy}
          ask={monitoring.ask}
        />
      }
    >
      <ProblemBox error={error} />
      {isWell && (
        <div className="finding">
          <Status tone={whole ? 'good' : 'off'} text={whole ? own.allWell : own.allWellSeen} />
        </div>
      )}
      {findings.map(({ tone, content }, at) => (
        <div key={at} className="finding">
          <span className={`dot dot-${tone}`} aria-hidden="true" />
          <span>{content}</span>
        </div>
      ))}
      {parts.map(
        ({ title, unseen }) =>
          unseen !== undefined && <Nothing key={title} text={`${title}: ${own.notShown(unseen)}`} />,
      )}
      {!known && !error && <Nothing text={texts.table.loading} />}
      <Asked answer={monitoring.data} followed={own.askedReports} />
    </Card>
  )
}

function useBadInstances(enabled: boolean) {
  const { data, error } = useQuery({
    queryKey: ['instances', 'list', 'bad'],
    queryFn: () => {
      const query = { fields: 'name,status,forthcoming', known: true, filter: BAD_INSTANCES, limit: COUNTED_MAX }
      return got(api.GET('/3/instances', { params: { query } }))
    },
    enabled,
  })
  const items = data?.items ?? []
  // What nodes have not told the master yet passes every filter.
  const unheard = items.filter(({ status, forthcoming }) => status === null && forthcoming === false).length
  const findings: Finding[] = [
    ...countOf(items.flatMap(({ status }) => status ?? [])).map(({ value, count }) => ({
      tone: 'bad' as const,
      content: (
        <Link to="/instances" search={{ status: value }}>
          {own.badInstances(count, texts.instances.status[value] ?? value)}
        </Link>
      ),
    })),
    ...(unheard > 0 ? [{ tone: 'warn' as const, content: own.unheard(unheard) }] : []),
  ]
  return { findings, error, known: data !== undefined }
}

function useFlaggedNodes(enabled: boolean) {
  const { data, error } = useQuery({
    queryKey: ['nodes', 'list', 'flags'],
    meta: WITHOUT_INSTANCES,
    queryFn: () => {
      const query = { fields: 'name,role', known: true, filter: FLAGGED, limit: COUNTED_MAX }
      return got(api.GET('/3/nodes', { params: { query } }))
    },
    enabled,
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

/** No event tells that a problem in the reports has gone. */
const PROBLEMS_AGAIN_MS = 30_000

/** Asks all nodes: from time to time after events of nodes, while there are problems, and when the user refreshes. */
function useMonitoring(enabled: boolean) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['monitoring', 'list', 'problems'],
    queryFn: () => {
      const query = { fields: PROBLEMS, limit: COUNTED_MAX }
      return timed(() => got(api.GET('/3/monitoring', { params: { query } })))
    },
    staleTime: Infinity,
    structuralSharing: false,
    refetchInterval: ({ state }) => problemsOf(state.data?.items ?? []).length > 0 && PROBLEMS_AGAIN_MS,
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
  return { data, findings, error, busy: isFetching, known: data !== undefined, ask: () => void refetch() }
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
  const displayed = all ? names : names.slice(0, NODES_SHOWN)
  return (
    <>
      {displayed.map((name, at) => (
        <Fragment key={name}>
          {at > 0 && ', '}
          <Link to="/nodes/$name" params={{ name }}>
            {name}
          </Link>
        </Fragment>
      ))}
      {displayed.length < names.length && (
        <>
          {' '}
          <UnstyledButton className="more-link" onClick={() => setAll(true)}>
            {own.more(names.length - displayed.length)}
          </UnstyledButton>
        </>
      )}
    </>
  )
}

/** The last verification, if its jobs are still stored. */
function useVerify(enabled: boolean) {
  const { last, error } = useVerified(enabled)
  const findings: Finding[] = last === null ? [NEVER_VERIFIED] : last === undefined ? [] : verifyFindings(last)
  return { findings, error, known: last !== undefined }
}

const NEVER_VERIFIED: Finding = {
  tone: 'warn',
  content: (
    <Link to="/cluster" search={{}}>
      {own.neverVerified}
    </Link>
  ),
}

function verifyFindings({ id, running, found, broken }: Verified): Finding[] {
  const toJob = (job: number, text: string) => (
    <Link to="/jobs/$id" params={{ id: String(job) }}>
      {text}
    </Link>
  )
  const [first] = found
  const bad = found.some(({ level }) => level === 'error')
  return [
    ...broken.map(({ job, why }): Finding => ({ tone: 'bad', content: toJob(job, own.verifyBroken(job, why)) })),
    ...(first === undefined
      ? []
      : [
          {
            tone: bad ? ('bad' as const) : ('warn' as const),
            content: toJob(first.job, own.verify(found.length, first.job)),
          },
        ]),
    ...(running ? [{ tone: 'busy' as const, content: toJob(id, own.verifying(id)) }] : []),
  ]
}
