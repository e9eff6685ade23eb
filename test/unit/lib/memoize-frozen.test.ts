// Values are remembered only for what cannot change.
import { memoizeFrozen } from '../../../src/lib/memoize-frozen'

test('the value for a frozen object is made once, that for any other each time', () => {
  let made = 0
  const sizeOf = memoizeFrozen((value: object | null) => {
    made++
    return Object.keys(value ?? {}).length
  })
  const frozen = Object.freeze({ a: 1 })
  expect([sizeOf(frozen), sizeOf(frozen), made]).toEqual([1, 1, 1])
  const open: Record<string, number> = { a: 1 }
  expect(sizeOf(open)).toBe(1)
  open['b'] = 2
  expect([sizeOf(open), sizeOf(null), made]).toEqual([2, 0, 4])
})
