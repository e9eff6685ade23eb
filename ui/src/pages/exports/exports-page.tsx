// All exports and their nodes. Every node is asked.
import { Button, Group, Text } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { components } from '../../api/schema'
import { useRefusal } from '../../api/session'
import { type Action, ActionAt } from '../../parts/action'
import { allOf, nameLike } from '../../api/conditions'
import { FilterField } from '../../parts/filter-field'
import { gntText } from '../../parts/gnt'
import { useList } from '../../parts/list-query'
import { ObjectLink } from '../../parts/names'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { RefusableButton } from '../../parts/disable-with-reason'
import { type Column, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'

type Export = components['schemas']['ExportView']
type Made = Export & { readonly export: string }

const own = texts.exports
const route = getRouteApi('/exports')
const isMade = (one: Export): one is Made => typeof one.export === 'string'

export const REMOVE_EXPORT: Action<Made> = {
  ...{ id: 'remove', label: own.remove, permission: 'instances.export.remove', danger: true },
  text: ({ export: name }) => own.removeText(name),
  fields: [],
  request: ({ export: name }, body) => ({
    ...{ method: 'DELETE', path: `/3/instances/${encodeURIComponent(name)}/export`, body },
    gnt: gntText('backup remove', {}, [name]),
  }),
}

/** A link to the form for a new instance, which knows what the cluster allows. */
function Import({ node, export: name }: Made) {
  const refusal = useRefusal()('instances.create')
  if (refusal !== undefined)
    return (
      <RefusableButton variant="subtle" size="compact-xs" whyNot={refusal}>
        {own.import}
      </RefusableButton>
    )
  return (
    <Button
      variant="subtle"
      size="compact-xs"
      renderRoot={(props) => <Link {...props} to="/instances/new" search={{ node: node ?? '', export: name }} />}
    >
      {own.import}
    </Button>
  )
}

const keyOf = (one: Export): string => `${one.node}/${one.export}`
const COLUMNS: readonly Column<Export>[] = [
  {
    ...{ id: 'export', title: own.columns.instance, width: 110, share: 2 },
    cell: (one) => (isMade(one) ? one.export : own.silent),
  },
  {
    ...{ id: 'actions', title: own.columns.actions, width: 240 },
    cell: (one) =>
      isMade(one) && (
        <Group gap={8} wrap="nowrap">
          <Import {...one} />
          <ActionAt subject={one} action={REMOVE_EXPORT} />
        </Group>
      ),
  },
  {
    ...{ id: 'node', title: own.columns.node, width: 170, share: 2 },
    cell: ({ node }) => node && <ObjectLink kind="node" name={node} />,
  },
]

export interface ExportsSearch {
  readonly q?: string
}

export function ExportsPage() {
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const filter = allOf(q ? [nameLike(q, 'export')] : [])
  const list = useList<Export>({ resource: 'exports', query: { filter } })
  const made = list.rows.filter(isMade).length
  return (
    <Page
      whole
      title={texts.nav.exports}
      note={
        <Text size="sm" c="dimmed">
          {texts.table.count(made, list.hasMore, own.noun)}
        </Text>
      }
      actions={
        <FilterField
          label={texts.table.filterName}
          value={q}
          change={(next) => void navigate({ search: { q: next }, replace: true })}
        />
      }
    >
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        label={texts.nav.exports}
        columns={COLUMNS}
        rows={list.rows}
        rowKey={keyOf}
        more={list.more}
        loading={list.loading}
        refusal={list.refusal}
        empty={filter ? texts.table.noMatch : own.none}
      />
    </Page>
  )
}
