// All instances. What is filtered and sorted by stands in the address, so that a view can be kept as a bookmark.
import { Button, Group, Select, Text, TextInput } from '@mantine/core'
import { useDebouncedCallback } from '@mantine/hooks'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { sizeText } from '../../format/size'
import { allOf, nameLike, useList } from '../../parts/list-query'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { type Column, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'
import { type Instance, INSTANCE_STATES, InstanceStatus } from './instance'

const own = texts.instances
const route = getRouteApi('/instances')

const FIELDS = ['name', 'status', 'pnode', 'snodes', 'be/maxmem', 'be/vcpus', 'disk_usage', 'disk.sizes', 'os', 'tags']

const COLUMNS: readonly Column<Instance>[] = [
  {
    ...{ id: 'name', title: own.columns.name, width: 180, share: 2, sort: 'name' },
    cell: ({ name }) => (
      <Link to="/instances/$name" params={{ name }}>
        {name}
      </Link>
    ),
  },
  {
    ...{ id: 'status', title: own.columns.status, width: 150, share: 1, sort: 'status' },
    cell: ({ status }) => <InstanceStatus status={status} />,
  },
  {
    ...{ id: 'pnode', title: own.columns.pnode, width: 180, share: 1, sort: 'pnode' },
    cell: ({ pnode }) =>
      pnode && (
        <Link to="/nodes/$name" params={{ name: pnode }}>
          {pnode}
        </Link>
      ),
  },
  {
    ...{ id: 'memory', title: own.columns.memory, width: 100, right: true, sort: 'be/maxmem' },
    cell: (instance) => sizeText(instance['be/maxmem']),
  },
  {
    ...{ id: 'vcpus', title: own.columns.vcpus, width: 80, right: true, sort: 'be/vcpus' },
    cell: (instance) => instance['be/vcpus'],
  },
  {
    ...{ id: 'disk', title: own.columns.disk, width: 100, right: true },
    cell: (instance) => sizeText((instance['disk.sizes'] ?? []).reduce((sum: number, size) => sum + Number(size), 0)),
  },
  {
    ...{ id: 'snodes', title: own.columns.snodes, width: 180, share: 1 },
    cell: ({ snodes }) => (snodes ?? []).join(', '),
  },
  { ...{ id: 'os', title: own.columns.os, width: 120, share: 1, sort: 'os' }, cell: ({ os }) => os },
  { ...{ id: 'tags', title: own.columns.tags, width: 140, share: 1 }, cell: ({ tags }) => (tags ?? []).join(', ') },
]

export interface InstancesSearch {
  readonly q?: string
  readonly status?: string
  readonly node?: string
  readonly sort?: string
}

export function InstancesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: Partial<InstancesSearch>) => void navigate({ search: { ...search, ...next }, replace: true })
  const conditions = [
    ...(search.q ? [nameLike(search.q)] : []),
    ...(search.status ? [['==', 'status', search.status]] : []),
    ...(search.node ? [['==', 'pnode', search.node]] : []),
  ]
  const list = useList<Instance>({
    resource: 'instances',
    query: { fields: FIELDS.join(','), known: 'true', filter: allOf(conditions), sort: search.sort },
  })
  return (
    <Page
      whole
      title={texts.nav.instances}
      note={
        <Text size="sm" c="dimmed">
          {texts.table.count(list.rows.length, list.hasMore, own.noun)}
        </Text>
      }
      actions={<Filters search={search} change={change} />}
    >
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        label={texts.nav.instances}
        columns={COLUMNS}
        rows={list.rows}
        rowKey={({ name }) => name}
        more={list.more}
        loading={list.loading}
        sort={search.sort ?? 'name'}
        onSort={(sort) => change({ sort: sort === 'name' ? undefined : sort })}
        empty={
          conditions.length === 0 ? (
            texts.table.empty
          ) : (
            <>
              {texts.table.noMatch}{' '}
              <Button variant="subtle" onClick={() => void navigate({ search: {} })}>
                {texts.table.clear}
              </Button>
            </>
          )
        }
      />
    </Page>
  )
}

interface FilterProps {
  readonly search: InstancesSearch
  readonly change: (next: Partial<InstancesSearch>) => void
}

function Filters({ search, change }: FilterProps) {
  const [typed, setTyped] = useState(search.q ?? '')
  const changeSoon = useDebouncedCallback((q: string) => change({ q: q === '' ? undefined : q }), 250)
  return (
    <Group gap={8}>
      <TextInput
        type="search"
        aria-label={texts.table.filterName}
        placeholder={texts.table.filterName}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value)
          changeSoon(event.currentTarget.value)
        }}
      />
      <Select
        clearable
        aria-label={texts.table.status}
        placeholder={texts.table.anyStatus}
        value={search.status ?? null}
        data={INSTANCE_STATES.map((value) => ({ value, label: own.status[value] ?? value }))}
        onChange={(status) => change({ status: status ?? undefined })}
      />
    </Group>
  )
}
