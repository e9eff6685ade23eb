// Answers with long lists of rows. Each slice of rows stands on a line of its own, which no string in JSON can hold, so that the
// text is made and read slice by slice; for every other client of the protocol it is JSON with some blanks.
import { breathe } from '../lib/clock'
import { CELLS_AT_ONCE } from '../model/limits/queries'
import { isObject } from '../lib/shapes/shape'

/** How many rows of so many cells are worked on at once. */
export const rowsAtOnce = (cells: number): number => Math.max(1, Math.floor(CELLS_AT_ONCE / Math.max(1, cells)))

/** The text before the result in an answer that succeeded. */
export const ANSWER_HEAD = '{"success":true,"result":'
export const ANSWER_TAIL = '}'

/** JSON that is made and sent, or that comes, in pieces. */
export class JsonText {
  constructor(readonly pieces: Iterable<string> | AsyncIterable<string | Buffer>) {}
}

/** A slice is the JSON of its rows with commas between them. What is no more than one slice has no lines. */
export function tableText(head: string, slices: Iterable<string> | AsyncIterable<string>, tail: string): JsonText {
  const lines = new Lines(head, tail)
  return new JsonText(Symbol.iterator in slices ? lines.of(slices) : lines.ofLate(slices))
}

/** A slice is told when the next one is there: only then is it known that it needs a line. */
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

/** Reads the text of a table, or any other JSON. */
export function parseLong(text: string): unknown {
  const head = text.indexOf('\n')
  return head === -1 ? JSON.parse(text) : parseSlices(text, head)
}

async function parseSlices(text: string, head: number): Promise<unknown> {
  const tail = text.lastIndexOf('\n')
  const ours = text[head - 1] === '[' && text[tail + 1] === ']'
  const whole: unknown = ours ? JSON.parse(text.slice(0, head) + text.slice(tail)) : undefined
  const rows = rowsOf(whole)
  // Blanks of somebody else's.
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

/** Null stands for an object that is not there. */
type Rows = (unknown[] | null)[]

const isRows = (value: unknown): value is Rows =>
  Array.isArray(value) && value.every((row) => row === null || Array.isArray(row))
