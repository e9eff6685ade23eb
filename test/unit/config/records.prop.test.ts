// Versions of a table share what they have in common, and none of them ever changes.
import * as fc from 'fast-check'
import {
  changedKeys,
  keyByName,
  recordFrom,
  recordSet,
  recordValues,
  type Dictionary,
} from '../../../src/config/records'
import { checkProperty } from '../../support/effort'

interface Item {
  readonly name: string
}
type Plain = Readonly<Record<string, Item>>

const key = fc.integer({ min: 0, max: 12 }).map((n) => `k${n.toString(16)}`)
const item = fc.record({ name: fc.integer({ min: 0, max: 1e9 }).map((n) => `name${n}`) })
/** Set or remove a key, in the version that is `back` versions old. */
const step = fc.record({ key, value: fc.option(item, { nil: undefined }), back: fc.nat({ max: 6 }) })

const sorted = (plain: Plain): [string, Item][] => Object.entries(plain).sort(([a], [b]) => (a < b ? -1 : 1))

function build(steps: readonly { key: string; value: Item | undefined; back: number }[]): [Dictionary<Item>, Plain][] {
  const versions: [Dictionary<Item>, Plain][] = [[recordFrom<Item>([]), {}]]
  for (const { key, value, back } of steps) {
    const [record, plain] = versions.at(-1 - Math.min(back, versions.length - 1)) ?? [recordFrom<Item>([]), {}]
    const { [key]: _old, ...rest } = plain
    versions.push([recordSet(record, key, value), value ? { ...rest, [key]: value } : rest])
  }
  return versions
}

test('every version stays what it was, whichever version the next one is made of', () => {
  checkProperty(
    fc.property(fc.array(step, { maxLength: 60 }), fc.array(fc.nat({ max: 60 }), { maxLength: 30 }), (steps, reads) => {
      const versions = build(steps)
      for (const read of [...reads, ...versions.keys()]) {
        const [record, plain] = versions[read % versions.length] ?? [{}, {}]
        expect(Object.entries(record)).toEqual(sorted(plain))
        expect(Object.keys(record)).toEqual(sorted(plain).map(([name]) => name))
        expect(recordValues(record)).toEqual(sorted(plain).map(([, value]) => value))
        expect({ ...record }).toEqual(plain)
        expect('k1' in record).toBe('k1' in plain)
      }
    }),
  )
})

test('the name index of every version finds what is there, and nothing else', () => {
  checkProperty(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const versions = build(steps)
      for (const [record, plain] of versions) {
        const names = new Set(Object.values(plain).map((value) => value.name))
        // Names are unique in a configuration, and only then the index is defined.
        if (names.size < Object.keys(plain).length) continue
        for (const [at, value] of Object.entries(plain)) expect(keyByName(record, value.name)).toBe(at)
        expect(keyByName(record, 'nobody')).toBeUndefined()
      }
    }),
  )
})

test('changed keys of two versions of one history include every difference', () => {
  checkProperty(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), fc.nat(), fc.nat(), (steps, a, b) => {
      const straight = build(steps.map((one) => ({ ...one, back: 0 })))
      const [before, plainBefore] = straight[a % straight.length] ?? [{}, {}]
      const [after, plainAfter] = straight[b % straight.length] ?? [{}, {}]
      const keys = changedKeys(before, after)
      const all = new Set([...Object.keys(plainBefore), ...Object.keys(plainAfter)])
      for (const one of all) if (plainBefore[one] !== plainAfter[one]) expect(keys?.has(one)).toBe(true)
    }),
  )
})

test('a version far behind the newest gets its own copy, and both stay right', () => {
  const first = recordSet(recordFrom<Item>([]), 'a', { name: 'first' })
  let last = first
  for (let n = 0; n < 2000; n++) last = recordSet(last, `k${n % 50}`, { name: `n${n}` })
  expect(Object.entries(first)).toEqual([['a', { name: 'first' }]])
  expect(Object.keys(last)).toHaveLength(51)
  expect(last['k7']).toEqual({ name: 'n1957' })
  expect(changedKeys(first, last)).toBeUndefined()
})

test('a view cannot be changed', () => {
  const record = recordFrom([['a', { name: 'x' }]]) as Record<string, Item>
  expect(() => (record['a'] = { name: 'y' })).toThrow(TypeError)
  expect(() => delete record['a']).toThrow(TypeError)
  expect(record['a']).toEqual({ name: 'x' })
  expect(record['constructor']).toBeUndefined()
})
