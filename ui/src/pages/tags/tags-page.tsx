// All tags, with the objects that have them.
import { Group, Text } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { components } from '../../api/schema'
import { FilterField } from '../../parts/filter-field'
import { useList } from '../../parts/list-query'
import { ObjectLink } from '../../parts/names'
import { Page } from '../../parts/page'
import { ProblemBox } from '../../parts/problem-box'
import { type Column, VirtualTable } from '../../parts/virtual-table'
import { texts } from '../../texts'

type Tag = components['schemas']['TagView']

const own = texts.tags
const route = getRouteApi('/tags')
const SHOWN_MAX = 20

const tagOf = ({ tag }: Tag): string => tag
const COLUMNS: readonly Column<Tag>[] = [
  { ...{ id: 'tag', title: own.columns.tag, width: 150, share: 1 }, cell: ({ tag }) => <span title={tag}>{tag}</span> },
  { ...{ id: 'count', title: own.columns.count, width: 80, right: true }, cell: ({ count }) => count },
  {
    ...{ id: 'objects', title: own.columns.objects, width: 240, share: 4 },
    cell: ({ objects, count }) => (
      <Group gap={12} wrap="nowrap">
        {objects.slice(0, SHOWN_MAX).map(({ kind, name }) => (
          <ObjectLink key={`${kind}/${name}`} kind={kind} name={name} />
        ))}
        {count > SHOWN_MAX && texts.more(count - SHOWN_MAX)}
      </Group>
    ),
  },
]

export interface TagsSearch {
  readonly q?: string
}

export function TagsPage() {
  const { q } = route.useSearch()
  const navigate = route.useNavigate()
  const list = useList<Tag>({ resource: 'tags', query: { like: q } })
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
        <FilterField
          label={own.filter}
          value={q}
          change={(next) => void navigate({ search: { q: next }, replace: true })}
        />
      }
    >
      <ProblemBox error={list.error} retry={list.retry} />
      <VirtualTable
        sideways
        label={own.title}
        columns={COLUMNS}
        rows={list.rows}
        rowKey={tagOf}
        more={list.more}
        loading={list.loading}
        refusal={list.refusal}
        empty={q ? texts.table.noMatch : own.noTags}
      />
    </Page>
  )
}
