// The list of instances. The address contains filters, order and columns, so that a bookmark keeps a view.
import { Button, Checkbox, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type Dispatch, type SetStateAction, useEffect, useMemo, useState } from 'react'
import { useRefusal } from '../../api/session'
import { useList } from '../../parts/list-query'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { RefusableButton } from '../../parts/disable-with-reason'
import { type Column, nameOf, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'
import { BulkBar } from './bulk'
import { allNames, notShown, stillThere, withoutGone } from './chosen'
import { columnsOf } from './columns'
import type { Instance } from './instance'
import { filterOf } from './list-filter'
import { ActiveFilters, Filters } from './list-filters'
import { Columns, type InstancesSearch, Views } from './list-tools'

export type { InstancesSearch } from './list-tools'

const own = texts.instances
const route = getRouteApi('/instances')

export function InstancesPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (next: Partial<InstancesSearch>) => void navigate({ search: { ...search, ...next }, replace: true })
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const filter = filterOf(search)
  const columns = useMemo(() => columnsOf(search.cols), [search.cols])
  const choice = useMemo(() => choosing(chosen, setChosen), [chosen])
  const list = useList<Instance>({
    resource: 'instances',
    query: {
      fields: [...new Set(['name', ...columns.flatMap(({ fields }) => fields)])].join(','),
      ...{ known: 'true', filter, sort: search.sort },
    },
  })
  useForgetGone(chosen, setChosen, list)
  const all = useMutation({ mutationFn: () => allNames(filter), onSuccess: (names) => setChosen(new Set(names)) })
  return (
    <Page
      whole
      title={texts.nav.instances}
      note={
        <Text size="sm" c="dimmed">
          {texts.table.count(list.rows.length, list.hasMore, own.noun)}
        </Text>
      }
      actions={
        <>
          <Filters search={search} change={change} />
          <Columns search={search} change={change} />
          <Views search={search} show={(view) => void navigate({ search: view })} />
          <NewButton />
        </>
      }
    >
      <ActiveFilters search={search} change={change} />
      <ProblemBox error={list.error ?? all.error} retry={list.retry} />
      {chosen.size > 0 && (
        <BulkBar names={[...chosen]} choose={(names) => setChosen(new Set(names))}>
          {list.hasMore || chosen.size < list.rows.length ? (
            <Button variant="subtle" loading={all.isPending} onClick={() => all.mutate()}>
              {own.bulk.all}
            </Button>
          ) : null}
        </BulkBar>
      )}
      <VirtualTable
        label={texts.nav.instances}
        columns={[{ ...choice, head: <ChooseAll rows={list.rows} chosen={chosen} choose={setChosen} /> }, ...columns]}
        rows={list.rows}
        rowKey={nameOf}
        more={list.more}
        loading={list.loading}
        refusal={list.refusal}
        sort={search.sort ?? 'name'}
        onSort={(sort) => change({ sort: sort === 'name' ? undefined : sort })}
        empty={
          filter === undefined ? (
            texts.table.none(own.noun)
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

/** Takes instances out of the choice that were removed or renamed. Events of instances repeat the question. */
function useForgetGone(chosen: Chosen, choose: Choose, list: { rows: readonly Instance[]; loading: boolean }): void {
  const sought = notShown(chosen, list.rows)
  const { data: found } = useQuery({
    queryKey: ['instances', 'list', 'chosen', sought],
    queryFn: async () => ({ sought, names: await stillThere(sought) }),
    enabled: sought.length > 0 && !list.loading,
  })
  useEffect(() => {
    if (found !== undefined) choose((before) => withoutGone(before, found.sought, found.names))
  }, [found, choose])
}

function NewButton() {
  const refusal = useRefusal()('instances.create')
  const text = own.create.open
  if (refusal !== undefined) return <RefusableButton whyNot={refusal}>{text}</RefusableButton>
  return (
    <Button component={Link} to="/instances/new">
      {text}
    </Button>
  )
}

type Chosen = ReadonlySet<string>
type Choose = Dispatch<SetStateAction<Chosen>>

/** The column of checkboxes that choose instances. They are plain HTML, because there are many. */
function choosing(chosen: Chosen, choose: Choose): Column<Instance> {
  return {
    ...{ id: 'choose', title: own.bulk.choose, width: 40 },
    cell: ({ name }) => (
      <input
        type="checkbox"
        className="choose"
        aria-label={own.bulk.chooseOne(name)}
        checked={chosen.has(name)}
        onChange={() =>
          choose((before) => {
            const next = new Set(before)
            if (!next.delete(name)) next.add(name)
            return next
          })
        }
      />
    ),
  }
}

/** The checkbox that chooses all loaded instances. */
function ChooseAll({ rows, chosen, choose }: { rows: readonly Instance[]; chosen: Chosen; choose: Choose }) {
  const every = rows.length > 0 && rows.every(({ name }) => chosen.has(name))
  return (
    <Checkbox
      aria-label={own.bulk.chooseAll}
      checked={every}
      disabled={rows.length === 0}
      indeterminate={!every && chosen.size > 0}
      onChange={() => choose(every ? new Set() : new Set(rows.map(({ name }) => name)))}
    />
  )
}
