// Filters mean the same however they are written and whenever live data comes.
import fc from 'fast-check'
import { compileFilter, parseFilter, serializeFilter } from '../../../src/query/filter'
import { checkProperty } from '../../support/effort'

type Row = Readonly<Record<string, number | undefined>>

const name = fc.constantFrom('a', 'b', 'c')
const leaf = fc.tuple(fc.constantFrom('==', '!=', '<', '>', '<=', '>='), name, fc.integer({ min: 0, max: 4 }))
const filters = fc.letrec<{ filter: unknown }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    leaf,
    fc.tuple(fc.constantFrom('&', '|'), tie('filter'), tie('filter')),
    fc.tuple(fc.constant('!'), tie('filter')),
  ),
})).filter
const rows = fc.record({ a: fc.integer({ min: 0, max: 4 }), b: fc.integer({ min: 0, max: 4 }) })

const look = (known: readonly string[]) => (field: string) => ({
  compare: 'plain' as const,
  read: (row: Row) => {
    const value = row[field]
    if (!known.includes(field)) return { state: 'pending' as const }
    return value === undefined ? { state: 'missing' as const } : { state: 'value' as const, value }
  },
})
const ALL = ['a', 'b', 'c']

test('a row that is decided before live data stays decided when it comes', () => {
  checkProperty(
    fc.property(filters, rows, fc.subarray(ALL), (json, row, known) => {
      const early = compileFilter<Row>(parseFilter(json), look(known))(row)
      if (early !== undefined) expect(compileFilter<Row>(parseFilter(json), look(ALL))(row)).toBe(early)
    }),
  )
})

test('a filter written back means the same', () => {
  checkProperty(
    fc.property(filters, rows, (json, row) => {
      const again = serializeFilter(parseFilter(json))
      expect(compileFilter<Row>(parseFilter(again), look(ALL))(row)).toBe(
        compileFilter<Row>(parseFilter(json), look(ALL))(row),
      )
      expect(serializeFilter(parseFilter(again))).toEqual(again)
    }),
  )
})

test('a negated filter passes exactly the other rows', () => {
  checkProperty(
    fc.property(filters, rows, (json, row) => {
      const verdict = compileFilter<Row>(parseFilter(json), look(ALL))(row)
      expect(compileFilter<Row>(parseFilter(['!', json]), look(ALL))(row)).toBe(!verdict)
    }),
  )
})
