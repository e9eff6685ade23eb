// A small table in a card. A wide table scrolls within the card.
import { Table } from '@mantine/core'
import type { ReactNode } from 'react'
import { texts } from '../texts'
import { Nothing } from './page'

interface RowsProps {
  readonly label: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly ReactNode[])[]
  /** A key for each row. Rows with a button need keys: an open dialog must not become that of the next row. */
  readonly keys?: readonly string[]
  /** The text for an empty table. */
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
