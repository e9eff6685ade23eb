// A table of changed values.
import { Table } from '@mantine/core'
import { texts } from '../texts'
import type { Difference } from '../format/differences'

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
