// JSON as Python writes it, for any value, however its bytes arrive.
import * as fc from 'fast-check'
import { type Column, PythonWriter } from '../../../../src/daemons/rapi/python-writer'
import { objectOf } from '../../../../src/daemons/rapi/tables'
import { checkProperty } from '../../../support/effort'

/** The text that Python's json.dumps would write, made from JSON.stringify's line breaks. */
function asPython(value: unknown): string {
  const dense = JSON.stringify(value, null, 1).replace(/,\n */g, ', ').replace(/\n */g, '')
  return dense.replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The same bytes in pieces that end anywhere, also within characters. */
function written(text: string, cuts: readonly number[], columns?: readonly Column[]): string {
  const bytes = Buffer.from(text)
  const writer = new PythonWriter(columns)
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  let from = 0
  const parts = ends.map((end) => {
    const part = writer.write(bytes.subarray(from, end))
    from = end
    return part
  })
  return Buffer.concat(parts).toString('latin1')
}

const value = fc.jsonValue({ stringUnit: 'binary' })
const cuts = fc.array(fc.nat(), { maxLength: 20 })

test('any value is written as Python writes it, however it comes', () => {
  checkProperty(fc.property(value, cuts, (any, at) => expect(written(JSON.stringify(any), at)).toBe(asPython(any))))
})

test('rows become objects, as single rows do, and nothing for an object that is not there', () => {
  const displayed: Column[] = [
    { field: 'first', key: 'first' },
    { field: 'more', key: 'of "the next"', within: true },
    { field: 'params', key: 'params' },
    { field: 'first', key: 'alias' },
  ]
  const row = fc.option(fc.tuple(value, value, fc.oneof(fc.dictionary(fc.string(), value), value), value))
  checkProperty(
    fc.property(fc.array(row), cuts, (rows, at) => {
      // The separator after a row on the wire may be a line break.
      const text = `[${rows.map((one) => JSON.stringify(one)).join(',\n')}]`
      const objects = rows.map((one) => (one === null ? null : objectOf(displayed, one)))
      expect(written(text, at, displayed)).toBe(asPython(objects))
    }),
  )
})
