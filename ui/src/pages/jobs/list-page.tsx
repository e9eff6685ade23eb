// The list of jobs that are not archived, the newest first.
import { Group, Select, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useCluster } from '../../api/cluster'
import { spanText } from '../../format/time'
import { ActionAt } from '../../parts/action'
import { type Job, summaryOf, tookMs } from '../../parts/job'
import { allOf, nameLike } from '../../api/conditions'
import { FilterField } from '../../parts/filter-field'
import { useList } from '../../parts/list-query'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { RowLink } from '../../parts/row-link'
import { Status } from '../../parts/status'
import { type Column, VirtualTable } from '../../parts/virtual-table'
import { Time } from '../../parts/time'
import { ListedOutcome } from '../../parts/use-outcome'
import { texts } from '../../texts'
import { DRAIN, UNDRAIN } from './actions'

const own = texts.jobs
const route = getRouteApi('/jobs')

const idOf = ({ id }: Job): string => String(id)
const COLUMNS: readonly Column<Job>[] = [
  {
    ...{ id: 'id', title: own.columns.id, width: 64, sort: 'id' },
    cell: ({ id }) => <RowLink to={`/jobs/${id}`}>{id}</RowLink>,
  },
  { ...{ id: 'summary', title: own.columns.summary, width: 150, share: 3 }, cell: summaryOf },
  {
    ...{ id: 'status', title: own.columns.status, width: 170, sort: 'status' },
    cell: (job) => <ListedOutcome job={job} />,
  },
  { ...{ id: 'received', title: own.columns.received, width: 210 }, cell: ({ received }) => <Time time={received} /> },
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
  /** A part of the name of the job's object. */
  readonly q?: string
  readonly user?: string
  readonly sort?: string
}

export function JobsPage() {
  const { status, q, user, sort = '-id' } = route.useSearch()
  const navigate = route.useNavigate()
  const go = (next: JobsSearch) => void navigate({ search: { status, q, user, sort, ...next }, replace: true })
  const filter = allOf([
    ...(status === undefined ? [] : [['==', 'status', status]]),
    ...(q === undefined ? [] : [nameLike(q, 'title')]),
    ...(user === undefined ? [] : [['==', 'user', user]]),
  ])
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
      actions={<Filters go={go} />}
    >
      <QueueState />
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        label={texts.nav.jobs}
        columns={COLUMNS}
        rows={list.rows}
        rowKey={idOf}
        more={list.more}
        loading={list.loading}
        refusal={list.refusal}
        sort={sort}
        onSort={(next) => go({ sort: next })}
        empty={filter === undefined ? texts.table.none(own.noun) : texts.table.noMatch}
      />
    </Page>
  )
}

function Filters({ go }: { go: (next: JobsSearch) => void }) {
  const { status, q, user } = route.useSearch()
  return (
    <>
      <FilterField label={own.about} width={190} value={q} change={(next) => go({ q: next })} />
      <FilterField label={own.byUser} width={110} value={user} change={(next) => go({ user: next })} />
      <Select
        clearable
        w={150}
        aria-label={texts.table.status}
        placeholder={texts.table.anyStatus}
        value={status ?? null}
        data={Object.entries(own.status).map(([value, label]) => ({ value, label }))}
        onChange={(next) => go({ status: next ?? undefined })}
      />
    </>
  )
}

/** Shows whether the queue accepts new jobs, with the action that changes this. */
function QueueState() {
  const { data } = useCluster()
  if (data === undefined) return null
  return (
    <Group gap="sm" fz="sm">
      <Status
        tone={data.drained ? 'warn' : 'good'}
        text={data.drained ? texts.jobs.queue.drained : texts.jobs.queue.open}
      />
      <ActionAt subject={null} action={data.drained ? UNDRAIN : DRAIN} />
    </Group>
  )
}
