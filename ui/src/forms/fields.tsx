// The fields of a form, and behind a line those that few people need.
import { Stack, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../parts/icon'
import { texts } from '../texts'
import { FieldInput } from './field-input'
import type { Field, Values } from './schema'

interface FieldsProps {
  readonly fields: readonly Field[]
  readonly others?: readonly Field[]
  readonly values: Values
  readonly errors: Readonly<Record<string, string>>
  readonly change: (name: string, value: unknown) => void
}

export function Fields({ fields, others = [], values, errors, change }: FieldsProps) {
  const wrong = others.some(({ name }) => errors[name] !== undefined)
  const [opened, setOpened] = useState(false)
  const shown = opened || wrong
  const list = (some: readonly Field[]) =>
    some.map((field) => (
      <FieldInput
        key={field.name}
        field={field}
        value={values[field.name] ?? field.initial}
        error={errors[field.name]}
        onChange={(value) => change(field.name, value)}
      />
    ))
  return (
    <>
      {list(fields)}
      {others.length > 0 && (
        <Stack gap="sm">
          <UnstyledButton className="fold" aria-expanded={shown} onClick={() => setOpened(!opened)}>
            <Icon name={shown ? 'down' : 'right'} size={14} />
            {texts.forms.others}
          </UnstyledButton>
          {shown && list(others)}
        </Stack>
      )}
    </>
  )
}
