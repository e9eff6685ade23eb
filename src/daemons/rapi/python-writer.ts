// Converts the master's JSON to RAPI's, which looks as Python writes it: with blanks after separators, and ASCII only.
// It works on bytes as they arrive and parses no values, so that a list costs the remote API little more than a copy.

/** A column of a table, as a member of the row's object. */
export interface Column {
  readonly field: string
  readonly key: string
  /** Shown as the last member of the next column's object, not by itself. */
  readonly within?: boolean
}

const MARKS = {
  quote: 0x22,
  comma: 0x2c,
  colon: 0x3a,
  list: 0x5b,
  listEnd: 0x5d,
  object: 0x7b,
  objectEnd: 0x7d,
} as const
const OTHERS = { line: 0x0a, blank: 0x20, backslash: 0x5c, lastOfAscii: 0x7e } as const
const GROWTH_LEAST = 2
const GROWTH_MOST = 8
/** The depth of a row's members: a row is a list in the outermost list. */
const ROW = 2

export class PythonWriter {
  private readonly heads: readonly Buffer[]
  private out = Buffer.alloc(0)
  private at = 0
  /** How much longer a piece becomes, with a reserve: if the buffer grew later, it would have to be copied. */
  private growth = GROWTH_LEAST
  private last = 0
  private depth = 0
  private inText = false
  private escaped = false
  private readonly characters = new TextDecoder('utf-8', { ignoreBOM: true })
  private column = 0
  /** The start of the value that is kept for the next column, and what is known about it. */
  private keptFrom: number | undefined
  private kept: Buffer[] = []

  /** With columns, lists in the outermost list are rows, and become objects. */
  constructor(private readonly columns: readonly Column[] = []) {
    const first = columns.findIndex(({ within }) => within !== true)
    this.heads = columns.map(({ key }, index) => Buffer.from(`${index > first ? ', ' : ''}${JSON.stringify(key)}: `))
  }

  write(piece: Buffer | string): Buffer {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    this.out = Buffer.allocUnsafe(Math.ceil(this.growth * bytes.length))
    this.at = 0
    if (this.keptFrom !== undefined) this.keptFrom = 0
    for (let from = 0; from < bytes.length; from++) {
      if (this.inText && !this.escaped) from = this.copyPlain(bytes, from)
      const byte = bytes[from]
      if (byte === undefined) break
      if (this.inText) this.writeText(byte)
      else this.writeMark(byte)
    }
    this.keep()
    if (this.at > 0) {
      this.last = this.out[this.at - 1] ?? 0
      this.growth = Math.min(GROWTH_MOST, Math.max(GROWTH_LEAST, (1.1 * this.at) / bytes.length))
    }
    return this.out.subarray(0, this.at)
  }

  /** Copies unchanged characters; returns where they end. */
  private copyPlain(bytes: Buffer, start: number): number {
    this.makeRoom(bytes.length - start)
    const { out } = this
    let { at } = this
    let from = start
    for (; from < bytes.length; from++) {
      const byte = bytes[from] ?? MARKS.quote
      if (byte === MARKS.quote || byte === OTHERS.backslash || byte > OTHERS.lastOfAscii) break
      out[at++] = byte
    }
    this.at = at
    return from
  }

  private writeText(byte: number): void {
    if (this.escaped) this.escaped = false
    else if (byte === OTHERS.backslash) this.escaped = true
    else if (byte === MARKS.quote) this.inText = false
    else if (byte > OTHERS.lastOfAscii) return this.putAll(this.escapeOf(byte))
    this.put(byte)
  }

  /** Nothing is written before a character's last byte. */
  private escapeOf(byte: number): Buffer {
    const units = [...this.characters.decode(Uint8Array.of(byte), { stream: true })].join('').split('')
    return Buffer.from(units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''))
  }

  private writeMark(byte: number): void {
    const inRow = this.depth === ROW && this.columns.length > 0
    switch (byte) {
      case OTHERS.line:
        return
      case MARKS.quote:
        this.inText = true
        return this.put(byte)
      case MARKS.comma:
        if (inRow) return this.nextColumn()
        this.put(byte)
        return this.put(OTHERS.blank)
      case MARKS.colon:
        this.put(byte)
        return this.put(OTHERS.blank)
      case MARKS.list:
      case MARKS.object:
        this.depth++
        return this.depth === ROW && this.columns.length > 0 ? this.beginRow() : this.put(byte)
      case MARKS.listEnd:
      case MARKS.objectEnd:
        this.depth--
        if (inRow) return this.endRow()
        if (this.depth === ROW && byte === MARKS.objectEnd) this.putKept()
        return this.put(byte)
      default:
        return this.put(byte)
    }
  }

  private beginRow(): void {
    this.put(MARKS.object)
    this.column = 0
    this.beginColumn()
  }

  private endRow(): void {
    this.endColumn()
    this.put(MARKS.objectEnd)
  }

  private nextColumn(): void {
    this.endColumn()
    this.column++
    this.beginColumn()
  }

  private beginColumn(): void {
    if (this.columns[this.column]?.within === true) this.keptFrom = this.at
    else this.putAll(this.heads[this.column] ?? NOTHING)
  }

  private endColumn(): void {
    if (this.keptFrom === undefined) this.kept = []
    this.keep()
    this.keptFrom = undefined
  }

  private keep(): void {
    if (this.keptFrom === undefined) return
    this.kept.push(Buffer.from(this.out.subarray(this.keptFrom, this.at)))
    this.at = this.keptFrom
  }

  /** Written before the end of the object that contains it. */
  private putKept(): void {
    if (this.kept.length === 0 || this.keptFrom !== undefined) return
    const before = this.at > 0 ? this.out[this.at - 1] : this.last
    const key = JSON.stringify(this.columns[this.column - 1]?.key)
    for (const bytes of [Buffer.from(`${before === MARKS.object ? '' : ', '}${key}: `), ...this.kept])
      this.putAll(bytes)
  }

  private put(byte: number): void {
    this.makeRoom(1)
    this.out[this.at++] = byte
  }

  private putAll(bytes: Buffer): void {
    this.makeRoom(bytes.length)
    for (let from = 0; from < bytes.length; from++) this.out[this.at++] = bytes[from] ?? 0
  }

  private makeRoom(size: number): void {
    if (this.at + size <= this.out.length) return
    const out = Buffer.allocUnsafe(2 * (this.out.length + size))
    this.out.copy(out, 0, 0, this.at)
    this.out = out
  }
}

const NOTHING = Buffer.alloc(0)
