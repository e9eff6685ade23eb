// The tools above the list of instances: columns and saved views.
import { ActionIcon, Button, Checkbox, Group, Menu, Popover, Stack, TextInput } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import { useState } from 'react'
import { Icon } from '../../icons/icon'
import { texts } from '../../texts'
import { ALL_COLUMNS, columnsOf, USUAL } from './columns'
import type { InstanceFilters } from './list-filter'

const words = texts.instances.list

export interface InstancesSearch extends InstanceFilters {
  readonly sort?: string
  /** The columns, if they are not the default ones. */
  readonly cols?: string
}

interface ToolProps {
  readonly search: InstancesSearch
  readonly change: (next: Partial<InstancesSearch>) => void
}

export function Columns({ search, change }: ToolProps) {
  const displayed = columnsOf(search.cols).map(({ id }) => id)
  const toggle = (id: string) => {
    const next = displayed.includes(id) ? displayed.filter((one) => one !== id) : [...displayed, id]
    const isUsual = next.length === USUAL.length && next.every((one) => USUAL.includes(one))
    change({ cols: isUsual ? undefined : next.join('.') })
  }
  return (
    <Popover position="bottom-end" withinPortal trapFocus>
      <Popover.Target>
        <Button variant="default">{words.columns}</Button>
      </Popover.Target>
      <Popover.Dropdown>
        <Stack gap={6}>
          {ALL_COLUMNS.map(({ id, title }) => (
            <Checkbox
              key={id}
              label={title}
              checked={displayed.includes(id)}
              disabled={id === 'name'}
              onChange={() => toggle(id)}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

interface View {
  readonly name: string
  readonly search: InstancesSearch
}

/** Saved views are kept in this browser. The address contains the shown view, so that it can be shared. */
export function Views({ search, show }: { search: InstancesSearch; show: (search: InstancesSearch) => void }) {
  const [views, setViews] = useLocalStorage<readonly View[]>({ key: 'gantry-instance-views', defaultValue: [] })
  const [name, setName] = useState('')
  const [opened, setOpened] = useState(false)
  const keep = () => {
    if (name.trim() === '') return
    setViews([...views.filter((view) => view.name !== name.trim()), { name: name.trim(), search }])
    setName('')
    setOpened(false)
  }
  return (
    <Menu position="bottom-end" withinPortal opened={opened} onChange={setOpened} closeOnItemClick={false}>
      <Menu.Target>
        <Button variant="default">{words.views}</Button>
      </Menu.Target>
      <Menu.Dropdown>
        {views.length === 0 && <Menu.Label>{words.noViews}</Menu.Label>}
        {views.map((view) => (
          <Group key={view.name} gap={4} wrap="nowrap">
            <Menu.Item
              onClick={() => {
                setOpened(false)
                show(view.search)
              }}
            >
              {view.name}
            </Menu.Item>
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={words.forget(view.name)}
              onClick={() => setViews(views.filter((one) => one.name !== view.name))}
            >
              <Icon name="close" size={12} />
            </ActionIcon>
          </Group>
        ))}
        <Menu.Divider />
        <Group gap={4} p={4} wrap="nowrap">
          <TextInput
            aria-label={words.viewName}
            placeholder={words.viewName}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') keep()
            }}
          />
          <Button variant="default" onClick={keep} disabled={name.trim() === ''}>
            {words.keep}
          </Button>
        </Group>
      </Menu.Dropdown>
    </Menu>
  )
}
