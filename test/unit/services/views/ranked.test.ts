// Pages of a list that is sorted by live values.
import fc from 'fast-check'
import { niceSort } from '../../../../src/model/nice-sort'
import { type Ranked, rankedPage } from '../../../../src/services/views/ranked'
import { checkProperty } from '../../../support/effort'

const ITEMS: readonly Ranked[] = [
  { key: 'vm10', value: 512 },
  { key: 'vm2', value: null },
  { key: 'vm1', value: 2048 },
  { key: 'vm3', value: 512 },
]

const BY_VALUE = { field: 'x', descending: false }
const whole = { after: null, limit: 100 }

test('without a field a list is in the order of its keys', () => {
  expect(rankedPage(ITEMS, { ...whole, sort: null }).page).toEqual(['vm1', 'vm2', 'vm3', 'vm10'])
})

test('equal values are in the order of their keys, and what has none comes last in both directions', () => {
  expect(rankedPage(ITEMS, { ...whole, sort: BY_VALUE }).page).toEqual(['vm3', 'vm10', 'vm1', 'vm2'])
  expect(rankedPage(ITEMS, { ...whole, sort: { ...BY_VALUE, descending: true } }).page).toEqual([
    'vm1',
    'vm3',
    'vm10',
    'vm2',
  ])
})

test('names among the values are in the order that people expect', () => {
  const names = ['node10', 'node2', 'node1']
  const items = names.map((value, key) => ({ key, value }))
  expect(rankedPage(items, { ...whole, sort: BY_VALUE }).page).toEqual(
    niceSort(names).map((name) => names.indexOf(name)),
  )
})

test('a page begins behind the last object of the one before, also when that is gone', () => {
  const first = rankedPage(ITEMS, { sort: BY_VALUE, after: null, limit: 2 })
  expect(first.page).toEqual(['vm3', 'vm10'])
  const left = ITEMS.filter(({ key }) => key !== 'vm10')
  expect(rankedPage(left, { sort: BY_VALUE, after: first.next, limit: 2 })).toEqual({
    page: ['vm1', 'vm2'],
    next: null,
  })
})

test('what is no place of such a list begins behind nothing', () => {
  for (const after of ['x', '[]', '{}', '[1,{}]', 'null'])
    expect(rankedPage(ITEMS, { sort: BY_VALUE, after, limit: 1 }).page).toHaveLength(1)
})

test('pages of whatever length have every object once', () => {
  const value = fc.oneof(
    fc.integer({ min: 0, max: 3 }),
    fc.constant(null),
    fc.constantFrom('a', 'b10', 'b9'),
    fc.boolean(),
  )
  const items = fc.uniqueArray(fc.record({ key: fc.integer({ min: 0, max: 50 }), value }), {
    selector: ({ key }) => key,
  })
  checkProperty(
    fc.property(items, fc.integer({ min: 1, max: 5 }), fc.boolean(), (input, limit, descending) => {
      const observed: unknown[] = []
      for (let after: string | null | undefined; after !== null;) {
        const { page, next } = rankedPage(input, { sort: { field: 'x', descending }, after: after ?? null, limit })
        observed.push(...page)
        after = next
      }
      expect(observed.toSorted()).toEqual(input.map(({ key }) => key).toSorted())
    }),
    { numRuns: 200 },
  )
})
