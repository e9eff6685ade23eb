// An input for names with values, such as OS parameters: a row for each.
import { ActionIcon, Button, Group, Input, Stack, TextInput } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../icons/icon'
import { texts } from '../texts'
import type { Field } from './schema'

interface PairsProps {
  readonly field: Field & { kind: 'pairs' }
  readonly value: Readonly<Record<string, unknown>>
  readonly error?: string
  readonly onChange: (value: Readonly<Record<string, unknown>>) => void
}

type Row = readonly [name: string, value: string]

export function PairsInput({ field, value, error, onChange }: PairsProps) {
  // The form's value has no rows with an empty name, so rows are kept here.
  const [rows, setRows] = useState<readonly Row[]>(() =>
    Object.entries(value).map(([name, one]) => [name, String(one)]),
  )
  const change = (next: readonly Row[]) => {
    setRows(next)
    onChange(Object.fromEntries(next.filter(([name]) => name.trim() !== '').map(([name, one]) => [name.trim(), one])))
  }
  const put = (at: number, row: Row) => change(rows.map((one, index) => (index === at ? row : one)))
  const list = `${field.name}-names`
  return (
    <Input.Wrapper
      label={field.label}
      description={field.text}
      error={error}
      labelElement="div"
      role="group"
      aria-label={field.label}
    >
      <Stack gap={6} mt={4}>
        <datalist id={list}>
          {field.names?.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        {rows.map(([name, one], at) => (
          <Group key={at} gap={6} wrap="nowrap">
            <TextInput
              flex={1}
              aria-label={`${field.label}: ${texts.forms.name} ${at + 1}`}
              placeholder={texts.forms.name}
              list={list}
              value={name}
              onChange={(event) => put(at, [event.currentTarget.value, one])}
            />
            <TextInput
              flex={2}
              aria-label={`${field.label}: ${texts.forms.value} ${at + 1}`}
              placeholder={texts.forms.value}
              type={field.hidden ? 'password' : 'text'}
              autoComplete="off"
              value={one}
              onChange={(event) => put(at, [name, event.currentTarget.value])}
            />
            <ActionIcon
              variant="subtle"
              color="gray"
              aria-label={texts.forms.removeNamed(name || `${field.label} ${at + 1}`)}
              onClick={() => change(rows.filter((_, index) => index !== at))}
            >
              <Icon name="close" size={14} />
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <Button
            variant="default"
            size="compact-xs"
            aria-label={texts.forms.addNamed(field.label)}
            disabled={field.barred !== undefined}
            onClick={() => setRows([...rows, ['', '']])}
          >
            {texts.forms.add}
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  )
}
