// The last figures of one thing, a row of them for each look. The oldest row goes when a new one comes, so it never takes more room.

export class Track<N extends string> {
  private readonly values: Float32Array
  /** Looks since it was seen last. */
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

  /** Whether anything is known of that row. */
  has(row: number): boolean {
    const width = this.columns.length
    return this.values.subarray(width * row, width * (row + 1)).some((value) => !Number.isNaN(value))
  }

  /** The figures of those rows, column by column. */
  told(rows: readonly number[]): Record<N, (number | null)[]> {
    const column = (name: N, at: number) => [
      name,
      rows.map((row) => rounded(this.values[this.columns.length * row + at])),
    ]
    return Object.fromEntries(this.columns.map(column)) as Record<N, (number | null)[]>
  }
}

/** Nobody reads more digits, and they would make up most of an answer. */
const rounded = (value: number | undefined): number | null =>
  value === undefined || Number.isNaN(value) ? null : Math.round(value * 1000) / 1000
