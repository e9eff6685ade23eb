// All networks.
import { Text } from '@mantine/core'
import type { Named } from '../../api/named'
import type { components } from '../../api/schema'
import { useList } from '../../parts/list-query'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { type Column, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'

type Network = Named<components['schemas']['NetworkView']>

const own = texts.networks

const COLUMNS: readonly Column<Network>[] = [
  { ...{ id: 'name', title: own.columns.name, width: 150, share: 2 }, cell: ({ name }) => name },
  { ...{ id: 'network', title: own.columns.network, width: 150, share: 1 }, cell: ({ network }) => network },
  { ...{ id: 'gateway', title: own.columns.gateway, width: 130, share: 1 }, cell: ({ gateway }) => gateway },
  { ...{ id: 'free', title: own.columns.free, width: 90, right: true }, cell: ({ free_count: count }) => count },
  {
    ...{ id: 'reserved', title: own.columns.reserved, width: 90, right: true },
    cell: ({ reserved_count: count }) => count,
  },
  { ...{ id: 'groups', title: own.columns.groups, width: 90, right: true }, cell: ({ group_cnt: count }) => count },
]

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
    >
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        label={texts.nav.networks}
        columns={COLUMNS}
        rows={list.rows}
        rowKey={({ name }) => name}
        more={list.more}
        loading={list.loading}
        empty={texts.table.empty}
      />
    </Page>
  )
}
