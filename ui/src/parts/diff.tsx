// What is another one than before, value by value.
import { Table } from '@mantine/core'
import { texts } from '../texts'

type Record_ = Readonly<Record<string, unknown>>

export interface Difference {
  readonly name: string
  readonly before: string
  readonly after: string
}

/** Of objects within, the single values. */
export function differences(before: Record_ | null, after: Record_ | null): Difference[] {
  const [old, now] = [flat(before ?? {}), flat(after ?? {})]
  const names = [...new Set([...Object.keys(old), ...Object.keys(now)])]
  return names
    .filter((name) => old[name] !== now[name])
    .map((name) => ({ name, before: old[name] ?? '', after: now[name] ?? '' }))
}

function flat(record: Record_, prefix = ''): Record<string, string> {
  const entries = Object.entries(record).flatMap(([name, value]): (readonly [string, string])[] =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(flat(value as Record_, `${prefix}${name}.`))
      : [[`${prefix}${name}`, valueText(value)]],
  )
  return Object.fromEntries(entries)
}

export const valueText = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : Array.isArray(value) && value.every((one) => typeof one !== 'object')
      ? value.join(', ')
      : typeof value === 'string'
        ? value
        : JSON.stringify(value)

interface DiffProps {
  readonly label: string
  readonly rows: readonly Difference[]
  readonly before?: string
  readonly after?: string
}

export function Diff({ label, rows, before = texts.conflict.before, after = texts.conflict.now }: DiffProps) {
  return (
    <Table fz="xs" withRowBorders={false} aria-label={label} className="diff">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{texts.forms.name}</Table.Th>
          <Table.Th>{before}</Table.Th>
          <Table.Th>{after}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={row.name}>
            <Table.Td>{row.name}</Table.Td>
            <Table.Td className="mono">{row.before || '–'}</Table.Td>
            <Table.Td className="mono">{row.after || '–'}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}
