// Rows as a table, aligned, or separated by a given text.
export interface Column {
  readonly title: string
  readonly alignRight: boolean
}

export interface TableOptions {
  readonly headers: boolean
  /** Stands between the cells, which are then not padded. */
  readonly separator?: string | undefined
  /** Pads the last title too, as Ganeti does in tables that do not come from a query. */
  readonly padTitles?: boolean
}

/** Rows of text as lines; the last column is padded only if it is aligned right. */
export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  options: TableOptions,
): string[] {
  const all = options.headers ? [columns.map(({ title }) => title), ...rows] : rows
  if (options.separator !== undefined) return all.map((row) => row.join(options.separator))
  const widths = columns.map((_, at) => Math.max(0, ...all.map((row) => row[at]?.length ?? 0)))
  return all.map((row, line) =>
    columns
      .map(({ alignRight }, at) => {
        const text = row[at] ?? ''
        if (alignRight) return text.padStart(widths[at] ?? 0)
        const bare = at === columns.length - 1 && !(options.padTitles === true && options.headers && line === 0)
        return bare ? text : text.padEnd(widths[at] ?? 0)
      })
      .join(' '),
  )
}
