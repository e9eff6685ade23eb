// The locks that are held or waited for.
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { FilterField } from '../../parts/filter-field'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { type Column, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'
import { Holders, type Lock, locksQuery } from './locks'
import { ownersOf, pendingOf } from './waits'

const own = texts.jobs.locks
const route = getRouteApi('/locks')

const COLUMNS: readonly Column<Lock>[] = [
  { ...{ id: 'name', title: own.columns.name, width: 190, share: 2 }, cell: ({ name }) => name },
  {
    ...{ id: 'owner', title: own.columns.owner, width: 130, share: 1 },
    cell: (lock) => <Holders holders={ownersOf(lock)} />,
  },
  { ...{ id: 'pending', title: own.columns.pending, width: 160, share: 2 }, cell: (lock) => <Pending lock={lock} /> },
  { ...{ id: 'mode', title: own.columns.mode, width: 120 }, cell: ({ mode }) => own.mode[mode ?? ''] ?? '–' },
]

function Pending({ lock }: { lock: Lock }) {
  const waiting = pendingOf(lock)
  if (waiting.length === 0) return own.nobody
  return waiting.map(({ mode, holders }, at) => (
    <span key={at}>
      <Holders holders={holders} /> {own.waiting(mode)}
    </span>
  ))
}

export interface LocksSearch {
  readonly q?: string
}

export function LocksPage() {
  const { q = '' } = route.useSearch()
  const navigate = route.useNavigate()
  const { data, error, isFetching, refetch } = useQuery(locksQuery)
  const rows = (data?.items ?? []).filter(({ name }) => (name ?? '').toLowerCase().includes(q.toLowerCase()))
  return (
    <Page
      whole
      title={own.title}
      note={
        <Text size="sm" c="dimmed">
          {texts.table.count(rows.length, data?.next !== null && data !== undefined, own.noun)}
        </Text>
      }
      actions={
        <FilterField
          label={texts.table.filterName}
          value={q}
          change={(next) => void navigate({ search: { q: next }, replace: true })}
        />
      }
    >
      <ProblemBox error={error} retry={() => void refetch()} />
      <Text size="sm" c="dimmed">
        {own.text}
      </Text>
      <VirtualTable
        label={own.title}
        columns={COLUMNS}
        rows={rows}
        rowKey={({ name }) => name ?? ''}
        loading={isFetching}
        empty={q === '' ? own.none : texts.table.noMatch}
      />
    </Page>
  )
}
