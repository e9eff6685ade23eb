// Answers with long lists of rows. Each slice of rows stands on a line of its own, which no string in JSON can hold, so that the
// text is made and read slice by slice; for every other client of the protocol it is JSON with some blanks.
import { breathe } from '../lib/clock'
import { slices } from '../lib/slices'
import { CELLS_AT_ONCE } from '../model/limits'
import { isObject } from '../opcodes/check'

/** How many rows of so many cells are worked on at once. */
export const rowsAtOnce = (cells: number): number => Math.max(1, Math.floor(CELLS_AT_ONCE / Math.max(1, cells)))

/** The text of a result in pieces; undefined for one that is short enough to be written at once. */
export function longResult(result: unknown): Iterable<string> | undefined {
  if (isRows(result)) return isLong(result) ? pieces('[', result, ']') : undefined
  if (!isObject(result) || !isRows(result['data']) || !isLong(result['data'])) return undefined
  const { data, ...rest } = result
  return pieces(`${JSON.stringify(rest).slice(0, -1)},"data":[`, data, ']}')
}

/** The whole message around the text of its result. */
export function* longAnswer(result: Iterable<string>): Generator<string> {
  yield '{"success":true,"result":'
  yield* result
  yield '}'
}

function* pieces(head: string, rows: Rows, tail: string): Generator<string> {
  yield `${head}\n`
  let before = ''
  for (const slice of slices(rows, rowsAtOnce(rows[0]?.length ?? 1))) {
    yield `${before}${JSON.stringify(slice).slice(1, -1)}`
    before = ',\n'
  }
  yield `\n${tail}`
}

/** Reads what `pieces` has made, or any other JSON. */
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

const isLong = (rows: Rows): boolean => rows.length > rowsAtOnce(rows[0]?.length ?? 1)

/** Null stands for an object that is not there. */
type Rows = (unknown[] | null)[]

const isRows = (value: unknown): value is Rows =>
  Array.isArray(value) && value.every((row) => row === null || Array.isArray(row))
