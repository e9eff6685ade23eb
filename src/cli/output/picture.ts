// Pictures of a terminal that follow each other in place. Where the output is no terminal, each is a block of plain lines.

/** The terminal, or a pipe or file in its place. */
export interface Canvas {
  readonly isTerminal: boolean
  /** Characters; undefined where there is no terminal. */
  size(): { readonly columns: number; readonly rows: number } | undefined
  write(text: string): void
}

const [OTHER_SCREEN, FIRST_SCREEN] = ['\x1b[?1049h', '\x1b[?1049l']
const [HIDE_CURSOR, SHOW_CURSOR] = ['\x1b[?25l', '\x1b[?25h']
const [HOME, END_OF_LINE, BELOW] = ['\x1b[H', '\x1b[K', '\x1b[J']

export class Picture {
  private last: readonly string[] | undefined

  constructor(private readonly canvas: Canvas) {}

  /** One write for a whole picture, in which nothing is erased before it is written again: so nothing flickers. */
  show(lines: readonly string[]): void {
    const size = this.canvas.isTerminal ? this.canvas.size() : undefined
    const begin = this.last === undefined ? `${OTHER_SCREEN}${HIDE_CURSOR}` : ''
    if (size === undefined) this.canvas.write(`${this.last === undefined ? '' : '\n'}${lines.join('\n')}\n`)
    else this.canvas.write(`${begin}${HOME}${fitted(lines, size)}${BELOW}`)
    this.last = lines
  }

  /** The terminal is as it was before, and the last picture stays on it as plain lines. */
  close(): void {
    if (this.last === undefined || !this.canvas.isTerminal) return
    this.canvas.write(`${SHOW_CURSOR}${FIRST_SCREEN}${this.last.join('\n')}\n`)
    this.last = undefined
  }
}

/** A line that does not fit is cut; so are the lines below the last row, of which the number is told. */
function fitted(lines: readonly string[], size: { columns: number; rows: number }): string {
  // Some terminals do not know their size.
  const [columns, rows] = [size.columns || Infinity, size.rows || Infinity]
  const fits = lines.length <= rows
  const shown = fits ? lines : [...lines.slice(0, Math.max(0, rows - 1)), `... ${lines.length - rows + 1} more lines`]
  return shown.map((line) => `${line.slice(0, columns)}${END_OF_LINE}`).join('\r\n')
}
