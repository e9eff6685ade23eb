// The list of rules that hold, limit or cancel jobs.
import { Group, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import { ActionAt, Actions } from '../../parts/action'
import { allOf } from '../../api/conditions'
import { FilterField } from '../../parts/filter-field'
import { useList } from '../../parts/list-query'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { type Column, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'
import { ADD_RULE, CHANGE_RULE, REMOVE_RULE } from './actions'
import { actionOf, actionText, type Rule, ruleLike, whenText, whyText } from './rule'

const own = texts.jobs.rules
const route = getRouteApi('/rules')

const keyOf = ({ uuid }: Rule): string => uuid ?? ''
const COLUMNS: readonly Column<Rule>[] = [
  {
    ...{ id: 'action', title: own.columns.action, width: 130 },
    cell: (rule) => <span title={own.actionText[actionOf(rule).name]}>{actionText(rule)}</span>,
  },
  {
    ...{ id: 'actions', title: '', width: 180 },
    cell: (rule) => (
      <Group gap={4} wrap="nowrap">
        <ActionAt subject={rule} action={CHANGE_RULE} />
        <ActionAt subject={rule} action={REMOVE_RULE} />
      </Group>
    ),
  },
  { ...{ id: 'priority', title: own.columns.priority, width: 80, right: true }, cell: ({ priority }) => priority },
  {
    ...{ id: 'when', title: own.columns.when, width: 220, share: 2 },
    cell: (rule) => <span title={whenText(rule)}>{whenText(rule)}</span>,
  },
  { ...{ id: 'why', title: own.columns.why, width: 160, share: 1 }, cell: whyText },
  { ...{ id: 'after', title: own.columns.after, width: 90, right: true }, cell: ({ watermark }) => watermark },
]

export interface RulesSearch {
  readonly q?: string
}

export function RulesPage() {
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const filter = allOf(q ? [ruleLike(q)] : [])
  const list = useList<Rule>({ resource: 'filters', query: { sort: 'priority', filter } })
  return (
    <Page
      whole
      title={own.title}
      note={
        <Text size="sm" c="dimmed">
          {texts.table.count(list.rows.length, list.hasMore, own.noun)}
        </Text>
      }
      actions={
        <>
          <FilterField
            label={own.filter}
            value={q}
            change={(next) => void navigate({ search: { q: next }, replace: true })}
          />
          <Actions subject={null} actions={[ADD_RULE]} shown={1} />
        </>
      }
    >
      <Text size="sm" c="dimmed">
        {own.text}
      </Text>
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        sideways
        label={own.title}
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
