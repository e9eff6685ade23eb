// The input of one field.
import { Autocomplete, MultiSelect, NumberInput, Select, Switch, TagsInput, Textarea, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useDebouncedValue } from '@mantine/hooks'
import { texts } from '../texts'
import { useNames } from './names'
import { PairsInput } from './pairs-input'
import { rangesOf } from './ranges'
import { RangesInput } from './ranges-input'
import { type Field, wordsOf } from './schema'

/** With more choices than this, the list can be searched. */
const MANY = 10

interface InputProps<F extends Field = Field> {
  readonly field: F
  readonly value: unknown
  readonly error?: string
  readonly onChange: (value: unknown) => void
}

export function FieldInput({ field: given, value, error, onChange }: InputProps) {
  const field = { ...given, text: [given.barred, given.text].filter(Boolean).join(' ') || undefined }
  const { label, text: description, placeholder, required } = field
  const disabled = field.barred !== undefined
  const common = { label, description, placeholder, error, disabled, withAsterisk: required }
  switch (field.kind) {
    case 'switch':
      return (
        <Switch
          {...{ label, description, error, disabled }}
          checked={value === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      )
    case 'number':
      return (
        <NumberInput
          {...common}
          value={typeof value === 'number' || typeof value === 'string' ? value : ''}
          allowDecimal={field.fraction === true}
          suffix={field.unit === undefined ? undefined : ` ${field.unit}`}
          onChange={onChange}
        />
      )
    case 'choice':
      return (
        <Select
          {...common}
          placeholder={placeholder ?? texts.forms.unchanged}
          value={value === '' ? null : String(value)}
          data={[...field.choices]}
          allowDeselect={false}
          searchable={field.choices.length > MANY}
          clearable={field.initial === '' || field.cleared !== undefined}
          onChange={(next) => onChange(next ?? '')}
        />
      )
    case 'text':
      if (field.source !== undefined) return <NameInput {...{ field, value, error, onChange }} />
      return field.long ? (
        <Textarea
          {...common}
          autosize
          minRows={2}
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      ) : (
        <TextInput
          {...common}
          type={field.hidden ? 'password' : 'text'}
          autoComplete="off"
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    case 'size':
      return (
        <TextInput
          {...common}
          autoComplete="off"
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
    case 'choices': {
      const chosen = wordsOf(value)
      return (
        <MultiSelect
          {...common}
          placeholder={chosen.length === 0 ? placeholder : undefined}
          value={chosen}
          data={[...new Set([...field.choices, ...chosen])]}
          searchable={field.choices.length > MANY}
          clearable
          onChange={onChange}
        />
      )
    }
    case 'ranges':
      return <RangesInput {...{ field, value: rangesOf(value), error, onChange }} />
    case 'words':
      return <WordsInput {...{ field, value, error, onChange }} />
    case 'pairs':
      return <PairsInput {...{ field, value: recordOf(value), error, onChange }} />
    case 'json':
      return (
        <Textarea
          {...common}
          autosize
          minRows={2}
          classNames={{ input: 'mono' }}
          value={String(value)}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
      )
  }
}

/** A name that the user types or chooses from suggestions. */
function NameInput({ field, value, error, onChange }: InputProps<Field & { kind: 'text' }>) {
  const [typed] = useDebouncedValue(String(value), 150)
  return (
    <Autocomplete
      {...{ label: field.label, description: field.text, placeholder: field.placeholder, error }}
      withAsterisk={field.required}
      disabled={field.barred !== undefined}
      data={useNames(field.source, typed)}
      value={String(value)}
      onChange={onChange}
    />
  )
}

function WordsInput({ field, value, error, onChange }: InputProps<Field & { kind: 'words' }>) {
  const [typed, setTyped] = useState('')
  const names = [...useNames(field.source, typed), ...(field.known?.() ?? [])]
  return (
    <TagsInput
      {...{ label: field.label, description: field.text, error }}
      withAsterisk={field.required}
      disabled={field.barred !== undefined}
      placeholder={field.placeholder ?? texts.forms.typeWords}
      value={wordsOf(value)}
      data={names}
      searchValue={typed}
      onSearchChange={setTyped}
      acceptValueOnBlur
      onChange={onChange}
    />
  )
}

const recordOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {}
