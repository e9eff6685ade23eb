// The list of networks.
import { Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Actions } from '../../parts/action'
import { useList } from '../../parts/list-query'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { type Column, nameOf, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'
import { ADD_NETWORK, type Network } from './actions'

const own = texts.networks

const COLUMNS: readonly Column<Network>[] = [
  { ...{ id: 'name', title: own.columns.name, width: 150, share: 2 }, cell: ({ name }) => <NetworkLink name={name} /> },
  { ...{ id: 'network', title: own.columns.network, width: 150, share: 1 }, cell: ({ network }) => network },
  { ...{ id: 'gateway', title: own.columns.gateway, width: 130, share: 1 }, cell: ({ gateway }) => gateway },
  { ...{ id: 'free', title: own.columns.free, width: 90, right: true }, cell: ({ free_count: count }) => count },
  {
    ...{ id: 'reserved', title: own.columns.reserved, width: 90, right: true },
    cell: ({ reserved_count: count }) => count,
  },
  { ...{ id: 'groups', title: own.columns.groups, width: 90, right: true }, cell: ({ group_cnt: count }) => count },
]

function NetworkLink({ name }: { name: string }) {
  return (
    <Link to="/networks/$name" params={{ name }}>
      {name}
    </Link>
  )
}

const FIELDS = 'name,network,gateway,free_count,reserved_count,group_cnt'

export function NetworksPage() {
  const list = useList<Network>({ resource: 'networks', query: { fields: FIELDS } })
  return (
    <Page
      whole
      title={texts.nav.networks}
      note={
        <Text size="sm" c="dimmed">
          {texts.table.count(list.rows.length, list.hasMore, own.noun)}
        </Text>
      }
      actions={<Actions subject={null} actions={[ADD_NETWORK]} shown={1} />}
    >
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        label={texts.nav.networks}
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
