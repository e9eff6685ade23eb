// The fields of a form. Fields that few users need are collapsed. Many fields can be searched by name.
import { Stack, Text, TextInput, Title, UnstyledButton } from '@mantine/core'
import { useState } from 'react'
import { Icon } from '../icons/icon'
import { texts } from '../texts'
import { FieldInput } from './field-input'
import { ofSession } from './session-fields'
import type { Field, Values } from './schema'

interface FieldsProps {
  readonly fields: readonly Field[]
  readonly others?: readonly Field[]
  readonly values: Values
  readonly errors: Readonly<Record<string, string>>
  readonly change: (name: string, value: unknown) => void
}

/** With more fields than this, there is a search field. */
const MANY = 20

export function Fields({ fields: own, others: rare = [], ...state }: FieldsProps) {
  const [fields, others] = [ofSession(own), ofSession(rare)]
  const [opened, setOpened] = useState(false)
  const [sought, setSought] = useState('')
  const all = [...fields, ...others]
  const displayed = opened || others.some(({ name }) => state.errors[name] !== undefined)
  const found = all.filter((field) => isLike(field, sought))
  return (
    <>
      {all.length > MANY && (
        <TextInput
          type="search"
          label={texts.forms.find}
          value={sought}
          onChange={(event) => setSought(event.currentTarget.value)}
          // Enter in the search field must not submit the form.
          onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
        />
      )}
      {sought !== '' && found.length === 0 && (
        <Text size="sm" c="dimmed">
          {texts.forms.noneFound}
        </Text>
      )}
      <Sections fields={sought === '' ? fields : found} {...state} />
      {sought === '' && others.length > 0 && (
        <Stack gap="sm">
          <UnstyledButton className="fold" aria-expanded={displayed} onClick={() => setOpened(!opened)}>
            <Icon name={displayed ? 'down' : 'right'} size={14} />
            {texts.forms.others}
          </UnstyledButton>
          {displayed && <Sections fields={others} {...state} />}
        </Stack>
      )}
    </>
  )
}

const isLike = ({ name, label, section = '' }: Field, letters: string): boolean =>
  [name, label, section].join(' ').toLowerCase().includes(letters.trim().toLowerCase())

type State = Pick<FieldsProps, 'values' | 'errors' | 'change'>

function Sections({ fields, ...state }: State & { fields: readonly Field[] }) {
  return sectionsOf(fields).map(({ title, members }) =>
    title === undefined ? (
      <Inputs key={members[0]?.name} fields={members} {...state} />
    ) : (
      <Stack key={members[0]?.name} gap="sm" role="group" aria-label={title}>
        <Title order={3} size="sm" className="section">
          {title}
        </Title>
        <Inputs fields={members} {...state} />
      </Stack>
    ),
  )
}

function Inputs({ fields, values, errors, change }: State & { fields: readonly Field[] }) {
  return fields.map((field) => (
    <FieldInput
      key={field.name}
      field={field}
      value={values[field.name] ?? field.initial}
      error={errors[field.name]}
      onChange={(value) => change(field.name, value)}
    />
  ))
}

interface Section {
  readonly title?: string
  readonly members: Field[]
}

/** Joins consecutive fields of the same section. */
function sectionsOf(fields: readonly Field[]): Section[] {
  const sections: Section[] = []
  for (const field of fields) {
    const last = sections.at(-1)
    if (last !== undefined && last.title === field.section) last.members.push(field)
    else sections.push({ title: field.section, members: [field] })
  }
  return sections
}
