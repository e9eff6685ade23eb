// The locks that are held or waited for.
import { Switch, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { allOf, anyOf, nameLike } from '../../api/conditions'
import { FilterField } from '../../parts/filter-field'
import { useList } from '../../parts/list-query'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { type Column, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'
import { Holders, LOCK_FIELDS, type Lock, lockText } from './locks'
import { ownersOf, pendingOf } from './waits'

const own = texts.jobs.locks
const route = getRouteApi('/locks')

const keyOf = ({ name }: Lock): string => name ?? ''
const COLUMNS: readonly Column<Lock>[] = [
  { ...{ id: 'name', title: own.columns.name, width: 190, share: 2 }, cell: lockText },
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
  /** Only locks that somebody waits for. */
  readonly waited?: string
}

export function LocksPage() {
  const { q, waited } = route.useSearch()
  const navigate = route.useNavigate()
  const go = (next: LocksSearch) => void navigate({ search: { q, waited, ...next }, replace: true })
  const filter = allOf([
    ...(q ? [anyOf([nameLike(q), nameLike(q, 'object')])] : []),
    ...(waited ? [['?', 'waited']] : []),
  ])
  const list = useList<Lock>({ resource: 'locks', query: { fields: LOCK_FIELDS, filter } })
  return (
    <Page
      whole
      title={own.title}
      note={
        <Text size="sm" c="dimmed">
          {texts.table.count(list.rows.length, list.hasMore, own.noun)}
        </Text>
      }
      actions={
        <>
          <FilterField label={texts.table.filterName} value={q} change={(next) => go({ q: next })} />
          <Switch
            label={own.onlyWaited}
            checked={waited !== undefined}
            onChange={(event) => go({ waited: event.currentTarget.checked ? 'yes' : undefined })}
          />
        </>
      }
    >
      <ProblemBox error={list.error} retry={list.retry} />
      <Text size="sm" c="dimmed">
        {own.text}
      </Text>
      <VirtualTable
        sideways
        label={own.title}
        columns={COLUMNS}
        rows={list.rows}
        rowKey={keyOf}
        more={list.more}
        loading={list.loading}
        refusal={list.refusal}
        empty={waited ? own.noneWaited : q ? texts.table.noMatch : own.none}
      />
    </Page>
  )
}
