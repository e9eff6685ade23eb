// The order of names, for any names.
import * as fc from 'fast-check'
import { niceCompare, niceSort } from '../../../src/model/nice-sort'
import { checkProperty } from '../../support/effort'

/** Part by part: text as text, digits as numbers. */
function compared(a: string, b: string): number {
  const [left, right] = [a.split(/(\d+)/), b.split(/(\d+)/)]
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [one = '', other = ''] = [left[at], right[at]]
    const order = at % 2 === 1 ? Number(one) - Number(other) : one < other ? -1 : one > other ? 1 : 0
    if (order !== 0) return Math.sign(order)
  }
  return Math.sign(left.length - right.length)
}

const name = fc.stringMatching(/^[a-c.-]{0,2}[0-3]{0,3}[a-c.-]{0,2}[0-9]{0,3}$/)

test('numbers in names count as numbers, and all else as text', () => {
  checkProperty(fc.property(name, name, (a, b) => expect(niceCompare(a, b)).toBe(compared(a, b))))
})

test('a list is in that order, and equals stay as they were', () => {
  checkProperty(fc.property(fc.array(name), (names) => expect(niceSort(names)).toEqual([...names].sort(compared))))
})
