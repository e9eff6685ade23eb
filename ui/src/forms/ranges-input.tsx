// An input for ranges: a table with the minimum and maximum of each resource.
import { Button, Group, Input, Stack, Text, TextInput } from '@mantine/core'
import { texts } from '../texts'
import { type End, ENDS, isWrong, type Limit } from './ranges'
import type { Field, Range } from './schema'

interface RangesProps {
  readonly field: Field & { kind: 'ranges' }
  readonly value: readonly Range[]
  readonly error?: string
  readonly onChange: (value: readonly Range[]) => void
}

const words = texts.forms

export function RangesInput({ field, value, error, onChange }: RangesProps) {
  const { label, limits, start } = field
  const put = (at: number, { name }: Limit, end: End, typed: string) =>
    onChange(
      value.map((range, index) => (index === at ? { ...range, [end]: { ...range[end], [name]: typed } } : range)),
    )
  return (
    <Input.Wrapper
      label={label}
      description={field.text}
      error={error}
      labelElement="div"
      role="group"
      aria-label={label}
    >
      <Stack gap="xs" mt={4}>
        {value.length === 0 && (
          <Text size="xs" c="dimmed">
            {field.placeholder}
          </Text>
        )}
        {value.map((range, at) => (
          <OneRange
            key={at}
            name={`${label} ${at + 1}`}
            limits={limits}
            range={range}
            change={(limit, end, typed) => put(at, limit, end, typed)}
            remove={() => onChange(value.filter((_, index) => index !== at))}
          />
        ))}
        <Group>
          <Button
            variant="default"
            size="compact-xs"
            aria-label={words.addNamed(label)}
            onClick={() => onChange([...value, value.at(-1) ?? start])}
          >
            {words.add}
          </Button>
        </Group>
      </Stack>
    </Input.Wrapper>
  )
}

interface OneProps {
  readonly name: string
  readonly limits: readonly Limit[]
  readonly range: Range
  readonly change: (limit: Limit, end: End, typed: string) => void
  readonly remove: () => void
}

function OneRange({ name, limits, range, change, remove }: OneProps) {
  return (
    <div className="range" role="group" aria-label={name}>
      <Text size="xs" fw={600}>
        {name}
      </Text>
      {ENDS.map((end) => (
        <Text key={end} size="xs" c="dimmed">
          {words.ends[end]}
        </Text>
      ))}
      {limits.map((limit) => (
        <Line key={limit.name} limit={limit} range={range} change={change} />
      ))}
      <div>
        <Button variant="subtle" color="gray" size="compact-xs" aria-label={words.removeNamed(name)} onClick={remove}>
          {words.remove}
        </Button>
      </div>
    </div>
  )
}

function Line({ limit, range, change }: Pick<OneProps, 'range' | 'change'> & { limit: Limit }) {
  return (
    <>
      <Text size="xs">{limit.label}</Text>
      {ENDS.map((end) => (
        <TextInput
          key={end}
          aria-label={`${limit.label}: ${words.ends[end]}`}
          error={range[end][limit.name] !== '' && isWrong(limit, range, end)}
          autoComplete="off"
          value={range[end][limit.name] ?? ''}
          onChange={(event) => change(limit, end, event.currentTarget.value)}
        />
      ))}
    </>
  )
}
