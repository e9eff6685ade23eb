// All nodes.
import { Text, TextInput } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import { sizeText } from '../../format/size'
import { allOf, nameLike, useList } from '../../parts/list-query'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { type Column, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'
import { type ClusterNode, NodeRole } from './node'

const own = texts.nodes
const route = getRouteApi('/nodes')

const FIELDS = [
  'name',
  'role',
  'group',
  'pinst_cnt',
  'sinst_cnt',
  'mfree',
  'mtotal',
  'dfree',
  'dtotal',
  'ctotal',
  'offline',
]

const COLUMNS: readonly Column<ClusterNode>[] = [
  {
    ...{ id: 'name', title: own.columns.name, width: 170, share: 3, sort: 'name' },
    cell: ({ name }) => (
      <Link to="/nodes/$name" params={{ name }}>
        {name}
      </Link>
    ),
  },
  {
    ...{ id: 'role', title: own.columns.role, width: 150, share: 1, sort: 'role' },
    cell: ({ role }) => <NodeRole role={role} />,
  },
  { ...{ id: 'group', title: own.columns.group, width: 120, share: 1, sort: 'group' }, cell: ({ group }) => group },
  {
    ...{ id: 'instances', title: own.columns.instances, width: 150, right: true, sort: 'pinst_cnt' },
    cell: ({ pinst_cnt: primary, sinst_cnt: secondary }) => `${primary ?? 0} / ${secondary ?? 0}`,
  },
  {
    ...{ id: 'memory', title: own.columns.memory, width: 170, right: true, sort: 'mfree' },
    cell: ({ mfree, mtotal }) => `${sizeText(mfree)} of ${sizeText(mtotal)}`,
  },
  {
    ...{ id: 'disk', title: own.columns.disk, width: 170, right: true, sort: 'dfree' },
    cell: ({ dfree, dtotal }) => `${sizeText(dfree)} of ${sizeText(dtotal)}`,
  },
  { ...{ id: 'cpus', title: own.columns.cpus, width: 80, right: true, sort: 'ctotal' }, cell: ({ ctotal }) => ctotal },
]

export interface NodesSearch {
  readonly q?: string
  readonly sort?: string
}

export function NodesPage() {
  const { q, sort } = route.useSearch()
  const navigate = route.useNavigate()
  const filter = allOf(q ? [nameLike(q)] : [])
  const list = useList<ClusterNode>({
    resource: 'nodes',
    query: { fields: FIELDS.join(','), known: 'true', filter, sort },
  })
  return (
    <Page
      whole
      title={texts.nav.nodes}
      note={
        <Text size="sm" c="dimmed">
          {texts.table.count(list.rows.length, list.hasMore, own.noun)}
        </Text>
      }
      actions={
        <TextInput
          type="search"
          aria-label={texts.table.filterName}
          placeholder={texts.table.filterName}
          defaultValue={q}
          onChange={(event) =>
            void navigate({ search: { sort, q: event.currentTarget.value || undefined }, replace: true })
          }
        />
      }
    >
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        label={texts.nav.nodes}
        columns={COLUMNS}
        rows={list.rows}
        rowKey={({ name }) => name}
        more={list.more}
        loading={list.loading}
        sort={sort ?? 'name'}
        onSort={(next) => void navigate({ search: { q, sort: next === 'name' ? undefined : next }, replace: true })}
        empty={q ? texts.table.noMatch : texts.table.empty}
      />
    </Page>
  )
}
