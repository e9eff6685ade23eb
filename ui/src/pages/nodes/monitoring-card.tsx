// Reports of a node's monitoring daemon: the state of each collector, and the network interfaces.
import { Button, Code, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api, got } from '../../api/client'
import type { components } from '../../api/schema'
import { Ago } from '../../parts/time'
import { CopyAs } from '../../parts/copy-as'
import { Card, Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { monitoringQuestion } from '../../parts/question-request'
import { Rows } from '../../parts/rows'
import { Status, type Tone } from '../../parts/status'
import { texts } from '../../texts'
import { interfacesOf, statusOf } from './reports'

type Report = components['schemas']['MonitoringReport']

const own = texts.nodes.monitoring
const TONES: Readonly<Record<number, Tone>> = { 0: 'good', 1: 'warn', 2: 'off', 4: 'bad' }

export function MonitoringCards({ node }: { node: string }) {
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['monitoring', 'one', node],
    queryFn: () => got(api.GET('/3/monitoring', { params: { query: { node } } })),
  })
  const reported = data?.items[0]
  const reports = reported?.reports ?? []
  const nics = texts.nodes.network
  return (
    <>
      <Card
        title={own.title}
        aside={
          <Group gap="sm">
            {reported?.answer !== undefined && <span>{own.answer[reported.answer] ?? reported.answer}</span>}
            <CopyAs small request={monitoringQuestion(node)} />
            <Button variant="subtle" size="compact-xs" loading={isFetching} onClick={() => void refetch()}>
              {own.ask}
            </Button>
          </Group>
        }
      >
        <ProblemBox error={error} />
        {reported === undefined && !error && <Nothing text={texts.table.loading} />}
        {reported !== undefined && <Problems problems={reported.problems ?? []} />}
        {reported !== undefined && <Reports reports={reports} />}
      </Card>
      <Card title={nics.title}>
        <Rows
          label={nics.title}
          head={[nics.name, nics.state, nics.mac, nics.mtu, nics.speed]}
          none={reported === undefined ? texts.table.loading : nics.none}
          rows={interfacesOf(reports).map(({ name, state, address, mtu, speed_mbit: speed }) => [
            name,
            <Status key="state" tone={state === 'up' ? 'good' : 'off'} text={state} />,
            <span key="address" className="mono">
              {address}
            </span>,
            mtu,
            speed ?? '–',
          ])}
        />
      </Card>
    </>
  )
}

function Problems({ problems }: { problems: readonly components['schemas']['MonitoringProblem'][] }) {
  return problems.map(({ collector, code, message }, at) => (
    <div key={at} className="line">
      <Status tone={TONES[code] ?? 'bad'} text={own.code[code] ?? String(code)} />
      <span style={{ overflowWrap: 'anywhere' }}>{collector === null ? message : `${collector}: ${message}`}</span>
    </div>
  ))
}

function Reports({ reports }: { reports: readonly Report[] }) {
  return (
    <Rows
      label={own.title}
      head={[own.collector, own.category, own.state, own.seen]}
      none={own.none}
      rows={reports.map((report) => [
        <details key="name">
          <summary>{report.name}</summary>
          <Code block tabIndex={0} aria-label={own.data(report.name)} mah={320} style={{ overflow: 'auto' }}>
            {JSON.stringify(report.data, null, 2)}
          </Code>
        </details>,
        report.category ?? '–',
        <State key="state" report={report} />,
        <Ago key="ago" time={new Date(report.timestamp / 1e6).toISOString()} />,
      ])}
    />
  )
}

function State({ report }: { report: Report }) {
  const status = statusOf(report)
  if (status === undefined) return own.figures
  const word = own.code[status.code] ?? String(status.code)
  return (
    <Status tone={TONES[status.code] ?? 'bad'} text={status.message === '' ? word : `${word}: ${status.message}`} />
  )
}
