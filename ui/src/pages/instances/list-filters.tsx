// The filters above the list of instances. Common filters are always visible, others are behind a button. Each active filter has a chip that
// removes it.
import { Autocomplete, Button, Group, Pill, Popover, Select, Stack } from '@mantine/core'
import { useNames } from '../../forms/names'
import type { Source } from '../../forms/schema'
import { FilterField, useTyped } from '../../parts/filter-field'
import { texts } from '../../texts'
import { INSTANCE_STATES } from './instance'
import { activeFilters, type InstanceFilters } from './list-filter'

const own = texts.instances
const words = own.list

interface FilterProps {
  readonly search: InstanceFilters
  readonly change: (next: Partial<InstanceFilters>) => void
}

export function Filters({ search, change }: FilterProps) {
  return (
    <>
      <FilterField label={texts.table.filterName} value={search.q} change={(q) => change({ q })} />
      <Select
        clearable
        w={160}
        aria-label={texts.table.status}
        placeholder={texts.table.anyStatus}
        value={search.status ?? null}
        data={INSTANCE_STATES.map((value) => ({ value, label: own.status[value] ?? value }))}
        onChange={(status) => change({ status: status ?? undefined })}
      />
      <Popover position="bottom-end" withinPortal trapFocus>
        <Popover.Target>
          <Button variant="default">{words.filters}</Button>
        </Popover.Target>
        <Popover.Dropdown>
          <Stack gap="xs" w={260}>
            {OTHERS.map(([name, source]) => (
              <OneFilter
                key={name}
                {...{ source, label: words.filterBy[name] ?? name, value: search[name] ?? '' }}
                change={(value) => change({ [name]: value === '' ? undefined : value })}
              />
            ))}
          </Stack>
        </Popover.Dropdown>
      </Popover>
    </>
  )
}

const OTHERS: readonly (readonly [name: 'group' | 'node' | 'tag' | 'os', source: Source | undefined])[] = [
  ['group', 'groups'],
  ['node', 'nodes'],
  ['os', 'os'],
  ['tag', undefined],
]

interface OneProps {
  readonly label: string
  readonly source: Source | undefined
  readonly value: string
  readonly change: (value: string) => void
}

/** A filter that takes effect when the user chooses a value or leaves the field. */
function OneFilter({ label, source, value, change }: OneProps) {
  const { typed, setTyped, send } = useTyped(value, change)
  const leave = () => {
    if (typed.trim() !== value) send(typed.trim())
  }
  return (
    <Autocomplete
      label={label}
      value={typed}
      data={useNames(source, typed)}
      comboboxProps={{ withinPortal: false }}
      onChange={setTyped}
      onOptionSubmit={send}
      onBlur={leave}
      onKeyDown={(event) => {
        if (event.key === 'Enter') leave()
      }}
    />
  )
}

/** The active filters, each with a button that removes it. */
export function ActiveFilters({ search, change }: FilterProps) {
  const active = activeFilters(search)
  if (active.length === 0) return null
  return (
    <Group gap={6} role="group" aria-label={words.filtered}>
      {active.map(([name, value]) => {
        const text = `${words.filterBy[name] ?? name}: ${name === 'status' ? (own.status[value] ?? value) : value}`
        return (
          <Pill
            key={name}
            size="md"
            withRemoveButton
            onRemove={() => change({ [name]: undefined })}
            removeButtonProps={{ 'aria-label': texts.forms.removeNamed(text), tabIndex: 0, 'aria-hidden': false }}
          >
            {text}
          </Pill>
        )
      })}
      {active.length > 1 && (
        <Button
          variant="subtle"
          size="compact-xs"
          onClick={() => change(Object.fromEntries(active.map(([name]) => [name, undefined])))}
        >
          {texts.table.clear}
        </Button>
      )}
    </Group>
  )
}
