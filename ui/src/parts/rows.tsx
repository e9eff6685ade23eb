// A small table inside of a card. Wide ones scroll by themselves, so that the page does not.
import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { texts } from '../texts'
import { Nothing } from './page'

interface RowsProps {
  readonly label: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly ReactNode[])[]
  /** What each row stands for. A row with a button needs it: an open dialog must not become that of the next row. */
  readonly keys?: readonly string[]
  /** In place of rows, when there are none. */
  readonly none: string
}

export function Rows({ label, head, rows, keys, none }: RowsProps) {
  if (rows.length === 0) return <Nothing text={none} />
  return (
    <div className="rows" tabIndex={0} role="group" aria-label={label}>
      <Table fz="sm" verticalSpacing={6} horizontalSpacing={14} aria-label={label}>
        <Table.Thead>
          <Table.Tr>
            {head.map((title, at) => (
              <Table.Th key={at} fz="xs" c="dimmed" fw={500}>
                {title || <span className="unseen">{texts.table.actions}</span>}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((cells, at) => (
            <Table.Tr key={keys?.[at] ?? at}>
              {cells.map((cell, column) => (
                <Table.Td key={column}>{cell}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </div>
  )
}
