// The cluster's space for disks, and the place of each template's disks.
import { Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { useCluster } from '../../api/cluster'
import { sizeText } from '../../format/size'
import { Usage, usedOf } from '../../parts/bar'
import { useList } from '../../parts/list-query'
import { ObjectLink } from '../../parts/names'
import { Card, Facts, Nothing, Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { type Column, nameOf, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'
import type { ClusterNode } from '../nodes/node'

const own = texts.storage
const route = getRouteApi('/storage')

const COLUMNS: readonly Column<ClusterNode>[] = [
  {
    ...{ id: 'name', title: own.columns.node, width: 170, share: 2, sort: 'name' },
    cell: ({ name }) => <ObjectLink kind="node" name={name} />,
  },
  {
    ...{ id: 'free', title: own.columns.free, width: 100, right: true, sort: 'dfree' },
    cell: ({ dfree }) => sizeText(dfree),
  },
  {
    ...{ id: 'used', title: own.columns.used, width: 230, share: 1 },
    cell: ({ name, dfree, dtotal }) => (
      <Usage label={`${name}: ${own.columns.used}`} used={usedOf(dfree, dtotal)} total={dtotal} flat />
    ),
  },
  {
    ...{ id: 'spindles', title: own.columns.spindles, width: 120, right: true, sort: 'spfree' },
    cell: ({ spfree }) => spfree ?? '–',
  },
]

export interface StorageSearch {
  readonly sort?: string
}

export function StoragePage() {
  const { sort = 'name' } = route.useSearch()
  const navigate = route.useNavigate()
  const list = useList<ClusterNode>({
    resource: 'nodes',
    query: { fields: 'name,dfree,dtotal,spfree', known: 'true', sort },
  })
  return (
    <Page whole title={own.title}>
      <Templates />
      <Text size="sm" c="dimmed">
        {own.text}
      </Text>
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        label={own.title}
        columns={COLUMNS}
        rows={list.rows}
        rowKey={nameOf}
        more={list.more}
        loading={list.loading}
        refusal={list.refusal}
        sort={sort}
        onSort={(next) => void navigate({ search: { sort: next === 'name' ? undefined : next }, replace: true })}
        empty={texts.table.none(own.noun)}
      />
    </Page>
  )
}

function Templates() {
  const { data: cluster, error, refusal } = useCluster()
  if (refusal !== undefined) return <Nothing text={texts.overview.notShown(refusal)} />
  if (error) return <ProblemBox error={error} />
  if (cluster === undefined) return null
  const { facts } = own
  return (
    <div className="columns">
      <Card title={own.templates}>
        <Facts facts={cluster.enabled_disk_templates.map((name) => [name, own.template[name] ?? '–'])} />
      </Card>
      <Card title={texts.cluster.parameters}>
        <Facts
          facts={[
            [facts.vg, cluster.volume_group_name],
            [facts.userSpace, cluster.user_space_storage ? facts.inUserSpace : facts.inKernel],
            [facts.file, cluster.file_storage_dir],
            [facts.shared, cluster.shared_file_storage_dir],
            [facts.gluster, cluster.gluster_storage_dir],
            [facts.helper, cluster.drbd_usermode_helper],
          ]}
        />
      </Card>
    </div>
  )
}
