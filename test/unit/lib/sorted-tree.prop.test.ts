// A tree of many levels holds what a plain map holds, and all its versions stay as they were.
import * as fc from 'fast-check'
import {
  type SortedTree,
  emptyTree,
  treeDifference,
  treeEntriesFrom,
  treeFrom,
  treeGet,
  treeKeys,
  treeSet,
  treeSize,
  treeValues,
} from '../../../src/lib/sorted-tree'
import { checkProperty } from '../../support/effort'

const KEYS_MAX = 5000
const key = (n: number): string => `key${n}`
/** Many neighbours set or removed, so that nodes split and join. */
const step = fc.record({
  from: fc.nat({ max: KEYS_MAX }),
  count: fc.integer({ min: 1, max: 400 }),
  removes: fc.boolean(),
  value: fc.nat({ max: 3 }),
})

type Steps = readonly { from: number; count: number; removes: boolean; value: number }[]

function versions(start: number, steps: Steps): { tree: SortedTree<number>; plain: ReadonlyMap<string, number> }[] {
  const first = new Map(Array.from({ length: start }, (_, n) => [key(n), n]))
  const made = [{ tree: treeFrom(first), plain: first }]
  for (const { from, count, removes, value } of steps) {
    let tree = made.at(-1)?.tree ?? emptyTree<number>()
    const plain = new Map(made.at(-1)?.plain)
    for (let n = from; n < from + count; n++) {
      tree = treeSet(tree, key(n), removes ? undefined : value)
      if (removes) plain.delete(key(n))
      else plain.set(key(n), value)
    }
    made.push({ tree, plain })
  }
  return made
}

const history = fc.tuple(fc.nat({ max: 3000 }), fc.array(step, { maxLength: 8 }))
const sorted = <T>(plain: ReadonlyMap<string, T>) => [...plain].sort(([a], [b]) => (a < b ? -1 : 1))

test('every version has what a plain map would have, in the order of the keys', () => {
  checkProperty(
    fc.property(history, fc.nat({ max: KEYS_MAX }), ([start, steps], from) => {
      for (const { tree, plain } of versions(start, steps)) {
        const entries = sorted(plain)
        expect(treeKeys(tree)).toEqual(entries.map(([name]) => name))
        expect(treeValues(tree)).toEqual(entries.map(([, value]) => value))
        expect(treeSize(tree)).toBe(plain.size)
        expect([...treeEntriesFrom(tree, key(from))]).toEqual(entries.filter(([name]) => name >= key(from)))
        for (let n = 0; n < KEYS_MAX; n += 37) expect(treeGet(tree, key(n))).toBe(plain.get(key(n)))
      }
    }),
    { numRuns: 30 },
  )
})

test('the difference of any two versions is each key with another value, in order', () => {
  checkProperty(
    fc.property(history, fc.nat(), fc.nat(), ([start, steps], a, b) => {
      const made = versions(start, steps)
      const [before, after] = [made[a % made.length], made[b % made.length]]
      const found: unknown[] = []
      if (before && after) treeDifference(before.tree, after.tree, (...one) => found.push(one))
      const names = [...new Set([...(before?.plain.keys() ?? []), ...(after?.plain.keys() ?? [])])].sort()
      const desired = names.map((name) => [name, before?.plain.get(name), after?.plain.get(name)] as const)
      expect(found).toEqual(desired.filter(([, old, now]) => old !== now))
    }),
    { numRuns: 100 },
  )
})

test('what is set to the value that it has is the same tree', () => {
  const tree = treeFrom([['a', 1] as const])
  expect(treeSet(tree, 'a', 1)).toBe(tree)
  expect(treeSet(tree, 'b', undefined)).toBe(tree)
})
