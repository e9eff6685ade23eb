// All jobs that are not archived, the newest first.
import { Select, Text } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { spanText, timeText } from '../../format/time'
import { type Job, JobStatus, summaryOf, tookMs } from '../../parts/job'
import { allOf, useList } from '../../parts/list-query'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { type Column, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'

const own = texts.jobs
const route = getRouteApi('/jobs')

const COLUMNS: readonly Column<Job>[] = [
  {
    ...{ id: 'id', title: own.columns.id, width: 64, sort: 'id' },
    cell: ({ id }) => (
      <Link to="/jobs/$id" params={{ id: String(id) }}>
        {id}
      </Link>
    ),
  },
  { ...{ id: 'summary', title: own.columns.summary, width: 150, share: 3 }, cell: summaryOf },
  {
    ...{ id: 'status', title: own.columns.status, width: 120, sort: 'status' },
    cell: ({ status }) => <JobStatus status={status} />,
  },
  { ...{ id: 'received', title: own.columns.received, width: 210 }, cell: ({ received }) => timeText(received) },
  {
    ...{ id: 'took', title: own.columns.took, width: 90, right: true },
    cell: (job) => {
      const took_ms = tookMs(job, Date.now())
      return took_ms === undefined ? '–' : spanText(took_ms)
    },
  },
]

export interface JobsSearch {
  readonly status?: string
  readonly sort?: string
}

export function JobsPage() {
  const { status, sort = '-id' } = route.useSearch()
  const navigate = route.useNavigate()
  const filter = allOf(status === undefined ? [] : [['==', 'status', status]])
  const list = useList<Job>({ resource: 'jobs', query: { filter, sort } })
  return (
    <Page
      whole
      title={texts.nav.jobs}
      note={
        <Text size="sm" c="dimmed">
          {texts.table.count(list.rows.length, list.hasMore, own.noun)}
        </Text>
      }
      actions={
        <Select
          clearable
          aria-label={texts.table.status}
          placeholder={texts.table.anyStatus}
          value={status ?? null}
          data={Object.entries(own.status).map(([value, label]) => ({ value, label }))}
          onChange={(next) => void navigate({ search: { sort, status: next ?? undefined }, replace: true })}
        />
      }
    >
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        label={texts.nav.jobs}
        columns={COLUMNS}
        rows={list.rows}
        rowKey={({ id }) => String(id)}
        more={list.more}
        loading={list.loading}
        sort={sort}
        onSort={(next) => void navigate({ search: { status, sort: next }, replace: true })}
        empty={status === undefined ? texts.table.empty : texts.table.noMatch}
      />
    </Page>
  )
}
