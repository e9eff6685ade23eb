// The list of nodes.
import { Select, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { sizeText } from '../../format/size'
import { Actions } from '../../parts/action'
import { allOf, nameLike } from '../../api/conditions'
import { FilterField } from '../../parts/filter-field'
import { useList } from '../../parts/list-query'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { nodeTo, RowLink } from '../../parts/row-link'
import { type Column, nameOf, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'
import { ADD_NODE } from './actions'
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
    cell: ({ name }) => <RowLink to={nodeTo(name)}>{name}</RowLink>,
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
    cell: ({ mfree, mtotal }) => own.of(sizeText(mfree), sizeText(mtotal)),
  },
  {
    ...{ id: 'disk', title: own.columns.disk, width: 170, right: true, sort: 'dfree' },
    cell: ({ dfree, dtotal }) => own.of(sizeText(dfree), sizeText(dtotal)),
  },
  { ...{ id: 'cpus', title: own.columns.cpus, width: 80, right: true, sort: 'ctotal' }, cell: ({ ctotal }) => ctotal },
]

export interface NodesSearch {
  readonly q?: string
  readonly role?: string
  readonly sort?: string
}

export function NodesPage() {
  const { q, role, sort } = route.useSearch()
  const navigate = route.useNavigate()
  const filter = allOf([...(q ? [nameLike(q)] : []), ...(role ? [['==', 'role', role]] : [])])
  const go = (next: NodesSearch) => void navigate({ search: { q, role, sort, ...next }, replace: true })
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
        <>
          <FilterField label={texts.table.filterName} value={q} change={(next) => go({ q: next })} />
          <Select
            clearable
            w={150}
            aria-label={own.columns.role}
            placeholder={own.anyRole}
            value={role ?? null}
            data={Object.entries(own.role).map(([value, label]) => ({ value, label }))}
            onChange={(next) => go({ role: next ?? undefined })}
          />
          <Actions subject={null} actions={[ADD_NODE]} shown={1} />
        </>
      }
    >
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        label={texts.nav.nodes}
        columns={COLUMNS}
        rows={list.rows}
        rowKey={nameOf}
        more={list.more}
        loading={list.loading}
        refusal={list.refusal}
        sort={sort ?? 'name'}
        onSort={(next) => go({ sort: next === 'name' ? undefined : next })}
        empty={filter ? texts.table.noMatch : texts.table.none(own.noun)}
      />
    </Page>
  )
}
