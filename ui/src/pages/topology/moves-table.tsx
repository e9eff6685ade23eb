// A list of changes to instances, in the panel beside the picture.
import { Table } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { texts } from '../../texts'

const SHOWN_MAX = 100

interface MovesProps<Row> {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly Row[]
  readonly cells: (row: Row) => readonly ReactNode[]
}

/** Renders nothing without rows. */
export function Moves<Row>({ title, head, rows, cells }: MovesProps<Row>) {
  if (rows.length === 0) return null
  return (
    <details open>
      <summary>
        {title} <span className="dim">{rows.length}</span>
      </summary>
      <Table
        fz="xs"
        withRowBorders={false}
        className="diff"
        aria-label={title}
        verticalSpacing={3}
        horizontalSpacing={4}
      >
        <Table.Thead>
          <Table.Tr>
            {head.map((name) => (
              <Table.Th key={name}>{name}</Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.slice(0, SHOWN_MAX).map((row, at) => (
            <Table.Tr key={at}>
              {cells(row).map((cell, column) => (
                <Table.Td key={column}>{cell}</Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
      {rows.length > SHOWN_MAX && <p className="dim">{texts.topology.look.more(rows.length - SHOWN_MAX)}</p>}
    </details>
  )
}

export const InstanceLink = ({ name }: { name: string }) => (
  <Link to="/instances/$name" params={{ name }}>
    {name}
  </Link>
)
