// Answers with long lists of rows. Each slice of rows has its own line. JSON strings contain no line ends, so both
// sides can work slice by slice. Other clients just see JSON with some whitespace.
import { breathe } from '../lib/clock'
import { CELLS_AT_ONCE } from '../model/limits/queries'
import { isObject } from '../lib/shapes/shape'

/** How many rows with this many cells to process at once. */
export const rowsAtOnce = (cells: number): number => Math.max(1, Math.floor(CELLS_AT_ONCE / Math.max(1, cells)))

/** The text before the result of a successful answer. */
export const ANSWER_HEAD = '{"success":true,"result":'
export const ANSWER_TAIL = '}'

/** JSON that is made, sent or received in pieces. */
export class JsonText {
  constructor(readonly pieces: Iterable<string> | AsyncIterable<string | Buffer>) {}
}

/** A slice is the JSON of its rows with commas between them. A table of one slice has no line ends. */
export function tableText(head: string, slices: Iterable<string> | AsyncIterable<string>, tail: string): JsonText {
  const lines = new Lines(head, tail)
  return new JsonText(Symbol.iterator in slices ? lines.of(slices) : lines.ofLate(slices))
}

/** Holds back each slice until the next one exists: only then we know that it needs a line end. */
class Lines {
  private text: string | undefined
  private long = false

  constructor(
    private readonly head: string,
    private readonly tail: string,
  ) {}

  *of(slices: Iterable<string>): Generator<string> {
    for (const slice of slices) yield* this.before(slice)
    yield this.end()
  }

  async *ofLate(slices: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const slice of slices) yield* this.before(slice)
    yield this.end()
  }

  private *before(slice: string): Generator<string> {
    const { text, head, long } = this
    this.text = slice
    if (text === undefined) return
    this.long = true
    yield long ? `${text},\n` : `${head}\n${text},\n`
  }

  private end(): string {
    const { text = '', head, tail, long } = this
    return long ? `${text}\n${tail}` : `${head}${text}${tail}`
  }
}

/** Parses the text of a table, or any other JSON. */
export function parseLong(text: string): unknown {
  const head = text.indexOf('\n')
  return head === -1 ? JSON.parse(text) : parseSlices(text, head)
}

async function parseSlices(text: string, head: number): Promise<unknown> {
  const tail = text.lastIndexOf('\n')
  const ours = text[head - 1] === '[' && text[tail + 1] === ']'
  const whole: unknown = ours ? JSON.parse(text.slice(0, head) + text.slice(tail)) : undefined
  const rows = rowsOf(whole)
  // Another program's whitespace.
  if (rows === undefined) return JSON.parse(text)
  for (let at = head + 1; at < tail;) {
    const end = text.indexOf('\n', at)
    const line = text.slice(at, text[end - 1] === ',' ? end - 1 : end)
    const slice: unknown = JSON.parse(`[${line}]`)
    if (!isRows(slice)) return JSON.parse(text)
    rows.push(...slice)
    at = end + 1
    await breathe()
  }
  return whole
}

function rowsOf(answer: unknown): Rows | undefined {
  const result = isObject(answer) ? answer['result'] : undefined
  const rows = isObject(result) ? result['data'] : result
  return isRows(rows) && rows.length === 0 ? rows : undefined
}

/** Null for an object that does not exist. */
type Rows = (unknown[] | null)[]

const isRows = (value: unknown): value is Rows =>
  Array.isArray(value) && value.every((row) => row === null || Array.isArray(row))
