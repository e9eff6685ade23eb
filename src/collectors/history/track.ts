// The last figures of one node or instance, a row for each look. A new row replaces the oldest, so the size is fixed.

export class Track<N extends string> {
  private readonly values: Float32Array
  /** The number of looks since it was last seen. */
  unseen = 0

  constructor(
    private readonly columns: readonly N[],
    private readonly rows: number,
  ) {
    this.values = new Float32Array(columns.length * rows).fill(NaN)
  }

  /** Undefined: it was not there. */
  add(figures: Readonly<Partial<Record<N, number>>> | undefined): void {
    const width = this.columns.length
    this.values.copyWithin(0, width)
    for (const [at, name] of this.columns.entries()) this.values[width * (this.rows - 1) + at] = figures?.[name] ?? NaN
    this.unseen = figures === undefined ? this.unseen + 1 : 0
  }

  /** Whether the row has data. */
  has(row: number): boolean {
    const width = this.columns.length
    return this.values.subarray(width * row, width * (row + 1)).some((value) => !Number.isNaN(value))
  }

  /** The figures of these rows, by column. */
  told(rows: readonly number[]): Record<N, (number | null)[]> {
    const column = (name: N, at: number) => [
      name,
      rows.map((row) => rounded(this.values[this.columns.length * row + at])),
    ]
    return Object.fromEntries(this.columns.map(column)) as Record<N, (number | null)[]>
  }
}

/** More digits are useless, and would make up most of an answer. */
const rounded = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : Math.round(value * 1000) / 1000
