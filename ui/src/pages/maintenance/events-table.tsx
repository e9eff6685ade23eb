// A table of repair events, of all nodes or of one node.
import { Code, Group } from '@mantine/core'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api, got } from '../../api/client'
import { Ago } from '../../parts/time'
import { ActionAt } from '../../parts/action'
import { ObjectLink } from '../../parts/names'
import { Nothing } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Rows } from '../../parts/rows'
import { Status, type Tone } from '../../parts/status'
import { texts } from '../../texts'
import { ACKNOWLEDGE, CANCEL_REPAIR, type RepairEvent } from './actions'

const own = texts.maintenance
const TONES: Readonly<Record<string, Tone>> = {
  noted: 'warn',
  pending: 'busy',
  canceled: 'off',
  failed: 'bad',
  completed: 'good',
}

export const maintenanceQuery = queryOptions({
  queryKey: ['maintenance', 'list'],
  queryFn: () => got(api.GET('/3/maintenance', {})),
})

export function EventsTable({ node }: { node?: string }) {
  const { data, error, refetch } = useQuery(maintenanceQuery)
  if (error) return <ProblemBox error={error} retry={() => void refetch()} />
  if (data === undefined) return <Nothing text={texts.table.loading} />
  const events = data.events.filter(({ node_name: name }) => node === undefined || name === node)
  return (
    <Rows
      label={own.events}
      head={own.eventColumns}
      none={node === undefined ? own.noEvents : texts.nodes.noEvents}
      keys={events.map(({ id }) => id)}
      rows={events.map((event) => [
        event.node_name === null ? event.node : <ObjectLink key="node" kind="node" name={event.node_name} />,
        <Asked key="asked" event={event} />,
        <Status
          key="status"
          tone={TONES[event['repair-status']] ?? 'off'}
          text={own.status[event['repair-status']] ?? event['repair-status']}
        />,
        <Group key="actions" gap={4} wrap="nowrap">
          <ActionAt subject={event} action={CANCEL_REPAIR} />
          <ActionAt subject={event} action={ACKNOWLEDGE} />
        </Group>,
        <Jobs key="jobs" jobs={event.jobs} />,
        event.note ?? '–',
        <Ago key="ago" time={new Date(event.ctime * 1000).toISOString()} />,
      ])}
    />
  )
}

function Asked({ event }: { event: RepairEvent }) {
  return (
    <details>
      <summary>{own.action[event.action] ?? event.action}</summary>
      <Code block tabIndex={0} aria-label={own.reported} style={{ overflow: 'auto', whiteSpace: 'pre-wrap' }} mah={240}>
        {JSON.stringify(event.original, null, 2)}
      </Code>
    </details>
  )
}

const Jobs = ({ jobs }: { jobs: readonly number[] }) => (
  <Group gap={8}>
    {jobs.map((id) => (
      <Link key={id} to="/jobs/$id" params={{ id: String(id) }}>
        {id}
      </Link>
    ))}
  </Group>
)
