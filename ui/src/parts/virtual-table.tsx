// A table of any length. Only visible rows are rendered, and more are loaded when the end becomes visible. If a window is too narrow, the
// rightmost columns are hidden, or the table scrolls sideways.
import { Button } from '@mantine/core'
import { useElementSize, useMergedRef } from '@mantine/hooks'
import { useVirtualizer } from '@tanstack/react-virtual'
import { memo, type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { texts } from '../texts'

export interface Column<Row> {
  readonly id: string
  readonly title: string
  /** Content of the head, instead of the title. */
  readonly head?: ReactNode
  /** The minimum width in pixels. Remaining space is shared among all columns. */
  readonly width: number
  readonly share?: number
  readonly right?: boolean
  /** The field that the server sorts by. */
  readonly sort?: string
  readonly cell: (row: Row) => ReactNode
}

interface TableProps<Row> {
  readonly label: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  /** The same function at each rendering, or all rows are measured again. */
  readonly rowKey: (row: Row) => string
  /** Loads the next page; undefined if there is none. */
  readonly more?: () => void
  readonly loading: boolean
  /** Why the user may not see the rows. */
  readonly refusal?: string
  /** Shown when there are no rows. */
  readonly empty: ReactNode
  /** A field, with a minus before it for the other direction. */
  readonly sort?: string
  readonly onSort?: (sort: string) => void
  /** Keeps all columns, because the objects have no page that shows the others. */
  readonly sideways?: boolean
}

const ROW_PX = 36

/** The key of rows that have unique names. */
export const nameOf = ({ name }: { readonly name: string }): string => name

export function VirtualTable<Row>(props: TableProps<Row>) {
  const { label, rows, rowKey, more, loading, refusal } = props
  const [isWhole, setWhole] = useState(false)
  const sideways = props.sideways === true || isWhole
  const empty = refusal === undefined ? props.empty : texts.overview.notShown(refusal)
  const scroll = useRef<HTMLDivElement>(null)
  const { ref, width } = useElementSize()
  const columns = useMemo(
    () => (sideways ? props.columns : fitting(props.columns, width)),
    [props.columns, width, sideways],
  )
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW_PX,
    overscan: 12,
    getItemKey: useCallback((index: number) => rowKey(rows[index] as Row), [rows, rowKey]),
  })
  const items = virtual.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (more !== undefined && !loading && last >= rows.length - 50) more()
  }, [more, loading, last, rows.length])
  const grid = columns.map(({ width: least, share = 0 }) =>
    share > 0 ? `minmax(${least}px, ${share}fr)` : `${least}px`,
  )
  const style = { gridTemplateColumns: grid.join(' ') }

  const hidden = props.columns.slice(columns.length)
  return (
    <div className="card vt" style={{ flex: 1 }}>
      {(hidden.length > 0 || isWhole) && (
        <div className="vt-hidden">
          <span className="dim">
            {isWhole ? texts.table.sideways : texts.table.hidden(hidden.map(({ title }) => title))}
          </span>
          <Button variant="subtle" size="compact-xs" onClick={() => setWhole(!isWhole)}>
            {isWhole ? texts.table.onlyFitting : texts.table.showAll}
          </Button>
        </div>
      )}
      <div className="vt-scroll" ref={useMergedRef(scroll, ref)} tabIndex={0} role="region" aria-label={label}>
        <div
          role="table"
          aria-label={label}
          aria-rowcount={more === undefined ? rows.length + 1 : -1}
          aria-busy={loading}
          style={sideways ? { minWidth: widthOf(columns) } : undefined}
        >
          <div role="rowgroup" className="vt-head">
            <Head {...props} columns={columns} style={style} />
          </div>
          <div role="rowgroup" style={{ height: virtual.getTotalSize(), position: 'relative' }}>
            {items.map(({ index, key, start }) => (
              <Line
                key={key}
                row={rows[index] as Row}
                columns={columns}
                grid={style.gridTemplateColumns}
                index={index}
                start={start}
              />
            ))}
          </div>
        </div>
        {rows.length === 0 && <div style={NOTE}>{loading ? texts.table.loading : empty}</div>}
      </div>
    </div>
  )
}

interface LineProps<Row> {
  readonly row: Row
  readonly columns: readonly Column<Row>[]
  readonly grid: string
  readonly index: number
  readonly start: number
}

function PlainLine<Row>({ row, columns, grid, index, start }: LineProps<Row>) {
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className="vt-row"
      style={{ ...ROW, gridTemplateColumns: grid, transform: `translateY(${start}px)` }}
    >
      {columns.map((column) => (
        <div key={column.id} role="cell" className={`vt-cell${column.right ? ' vt-right' : ''}`}>
          {column.cell(row)}
        </div>
      ))}
    </div>
  )
}

/** Scrolling renders a few new lines in each frame, and must not render the others again. */
const Line = memo(PlainLine, (before, now) => {
  const sameColumns =
    before.columns === now.columns ||
    (before.columns.length === now.columns.length &&
      before.columns.every(({ cell, right }, at) => cell === now.columns[at]?.cell && right === now.columns[at]?.right))
  const { row, grid, index, start } = before
  return sameColumns && row === now.row && grid === now.grid && index === now.index && start === now.start
}) as typeof PlainLine

const ROW = { position: 'absolute', top: 0, left: 0, width: '100%', height: ROW_PX } as const
const NOTE = { padding: '28px 14px', textAlign: 'center', color: 'var(--mantine-color-dimmed)' } as const

function Head<Row>({ columns, sort, onSort, style }: TableProps<Row> & { style: object }) {
  return (
    <div role="row" aria-rowindex={1} className="vt-row vt-head" style={style}>
      {columns.map(({ id, title, head, right, sort: field }) => {
        const order = field === undefined ? undefined : orderOf(field, sort)
        return (
          <div key={id} role="columnheader" aria-sort={order} className={`vt-cell${right ? ' vt-right' : ''}`}>
            {field === undefined || onSort === undefined ? (
              (head ?? (title || <span className="unseen">{texts.table.actions}</span>))
            ) : (
              <button
                type="button"
                className="vt-sort"
                title={texts.table.sortBy(title)}
                onClick={() => onSort(order === 'ascending' ? `-${field}` : field)}
              >
                {title}
                {order === 'ascending' ? ' ↑' : order === 'descending' ? ' ↓' : ''}
              </button>
            )}
          </div>
        )
      })}
    </div>
  )
}

function orderOf(field: string, sort: string | undefined): 'ascending' | 'descending' | 'none' {
  if (sort === field) return 'ascending'
  return sort === `-${field}` ? 'descending' : 'none'
}

const widthOf = <Row,>(columns: readonly Column<Row>[]): number => columns.reduce((sum, { width }) => sum + width, 0)

/** The columns that fit, but at least two. */
function fitting<Row>(columns: readonly Column<Row>[], room: number): readonly Column<Row>[] {
  let taken = 0
  const count = columns.findIndex(({ width }) => (taken += width) > room)
  return room === 0 || count === -1 ? columns : columns.slice(0, Math.max(count, 2))
}
