// The operating systems that the nodes can install.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { useList } from '../../parts/list-query'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { Status } from '../../parts/status'
import { type Column, nameOf, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'
import type { Os } from './actions'

const own = texts.os

const COLUMNS: readonly Column<Os>[] = [
  {
    ...{ id: 'name', title: own.columns.name, width: 170, share: 2 },
    cell: ({ name }) => (
      <Link to="/os/$name" params={{ name }}>
        {name}
      </Link>
    ),
  },
  { ...{ id: 'state', title: own.columns.state, width: 180, share: 1 }, cell: (os) => <OsState os={os} /> },
  {
    ...{ id: 'variants', title: own.columns.variants, width: 160, share: 2 },
    cell: ({ variants }) => (variants ?? []).join(', ') || '–',
  },
  {
    ...{ id: 'api', title: own.columns.api, width: 110 },
    cell: ({ api_versions: versions }) => (versions ?? []).join(', ') || '–',
  },
]

export function OsState({ os }: { os: Os }) {
  if (os.valid !== true) return <Status tone="bad" text={own.invalid} />
  if (os.blacklisted === true) return <Status tone="warn" text={own.blacklisted} />
  return os.hidden === true ? <Status tone="off" text={own.hidden} /> : <Status tone="good" text={own.valid} />
}

export const OS_FIELDS = 'name,valid,hidden,blacklisted,variants,api_versions'

export function OsPage() {
  const list = useList<Os>({ resource: 'os', query: { fields: OS_FIELDS } })
  return (
    <Page
      whole
      title={texts.nav.os}
      note={
        <Text size="sm" c="dimmed">
          {texts.table.count(list.rows.length, list.hasMore, own.noun)}
        </Text>
      }
    >
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        label={texts.nav.os}
        columns={COLUMNS}
        rows={list.rows}
        rowKey={nameOf}
        more={list.more}
        loading={list.loading}
        refusal={list.refusal}
        empty={texts.table.none(own.noun)}
      />
    </Page>
  )
}
