// Shows pictures on a terminal that replace each other in place. Without a terminal, each is a block of plain lines.

/** The terminal, or a pipe or file in its place. */
export interface Canvas {
  readonly isTerminal: boolean
  /** Characters; undefined if it is no terminal. */
  size(): { readonly columns: number; readonly rows: number } | undefined
  write(text: string): void
}

const [OTHER_SCREEN, FIRST_SCREEN] = ['\x1b[?1049h', '\x1b[?1049l']
const [HIDE_CURSOR, SHOW_CURSOR] = ['\x1b[?25l', '\x1b[?25h']
const [HOME, END_OF_LINE, BELOW] = ['\x1b[H', '\x1b[K', '\x1b[J']

export class Picture {
  private last: readonly string[] | undefined

  constructor(private readonly canvas: Canvas) {}

  /** Writes a whole picture at once and overwrites in place, so that nothing flickers. */
  show(lines: readonly string[]): void {
    const size = this.canvas.isTerminal ? this.canvas.size() : undefined
    const begin = this.last === undefined ? `${OTHER_SCREEN}${HIDE_CURSOR}` : ''
    if (size === undefined) this.canvas.write(`${this.last === undefined ? '' : '\n'}${lines.join('\n')}\n`)
    else this.canvas.write(`${begin}${HOME}${fitted(lines, size)}${BELOW}`)
    this.last = lines
  }

  /** Restores the terminal; the last picture stays as plain lines. */
  close(): void {
    if (this.last === undefined || !this.canvas.isTerminal) return
    this.canvas.write(`${SHOW_CURSOR}${FIRST_SCREEN}${this.last.join('\n')}\n`)
    this.last = undefined
  }
}

/** Cuts long lines, and lines below the last row, whose number is shown. */
function fitted(lines: readonly string[], size: { columns: number; rows: number }): string {
  // Some terminals do not know their size.
  const [columns, rows] = [size.columns || Infinity, size.rows || Infinity]
  const fits = lines.length <= rows
  const displayed = fits
    ? lines
    : [...lines.slice(0, Math.max(0, rows - 1)), `... ${lines.length - rows + 1} more lines`]
  return displayed.map((line) => `${line.slice(0, columns)}${END_OF_LINE}`).join('\r\n')
}
