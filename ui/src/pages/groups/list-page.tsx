// The list of node groups.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Actions } from '../../parts/action'
import { useList } from '../../parts/list-query'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { type Column, nameOf, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'
import { ADD_GROUP, type NodeGroup } from './actions'

const own = texts.groups

const COLUMNS: readonly Column<NodeGroup>[] = [
  {
    ...{ id: 'name', title: own.columns.name, width: 160, share: 2 },
    cell: ({ name }) => (
      <Link to="/groups/$name" params={{ name }}>
        {name}
      </Link>
    ),
  },
  { ...{ id: 'nodes', title: own.columns.nodes, width: 80, right: true }, cell: ({ node_cnt: count }) => count },
  {
    ...{ id: 'instances', title: own.columns.instances, width: 100, right: true },
    cell: ({ pinst_cnt: count }) => count,
  },
  {
    ...{ id: 'policy', title: own.columns.policy, width: 140, share: 1 },
    cell: ({ alloc_policy: policy }) => (
      <span title={own.policyText[policy ?? '']}>{own.policy[policy ?? ''] ?? policy}</span>
    ),
  },
  { ...{ id: 'tags', title: own.columns.tags, width: 160, share: 2 }, cell: ({ tags }) => (tags ?? []).join(', ') },
]

const FIELDS = 'name,node_cnt,pinst_cnt,alloc_policy,tags'

export function GroupsPage() {
  const list = useList<NodeGroup>({ resource: 'groups', query: { fields: FIELDS } })
  return (
    <Page
      whole
      title={texts.nav.groups}
      note={
        <Text size="sm" c="dimmed">
          {texts.table.count(list.rows.length, list.hasMore, own.noun)}
        </Text>
      }
      actions={<Actions subject={null} actions={[ADD_GROUP]} shown={1} />}
    >
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        label={texts.nav.groups}
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
