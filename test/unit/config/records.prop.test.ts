// Versions of a table share what they have in common, and none of them ever changes.
import * as fc from 'fast-check'
import {
  byName,
  changedKeys,
  keyByName,
  recordFind,
  recordFindPrefix,
  recordFrom,
  recordHas,
  recordSet,
  recordValues,
  type Dictionary,
  type Index,
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
  for (const one of steps) versions.push(after(versions, one))
  return versions
}

function after(
  versions: readonly [Dictionary<Item>, Plain][],
  { key, value, back }: { key: string; value: Item | undefined; back: number },
): [Dictionary<Item>, Plain] {
  const [record, plain] = versions.at(-1 - Math.min(back, versions.length - 1)) ?? [recordFrom<Item>([]), {}]
  const { [key]: _old, ...rest } = plain
  return [recordSet(record, key, value), value ? { ...rest, [key]: value } : rest]
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

test('changed keys of two versions are those with different values', () => {
  checkProperty(
    fc.property(fc.array(step, { minLength: 1, maxLength: 40 }), fc.nat(), fc.nat(), (steps, a, b) => {
      const versions = build(steps)
      const [before, plainBefore] = versions[a % versions.length] ?? [{}, {}]
      const [after, plainAfter] = versions[b % versions.length] ?? [{}, {}]
      const all = [...new Set([...Object.keys(plainBefore), ...Object.keys(plainAfter)])]
      const different = all.filter((one) => plainBefore[one] !== plainAfter[one])
      expect([...changedKeys(before, after)].sort()).toEqual(different.sort())
    }),
  )
})

const byLetter: Index<Item> = { textsOf: ({ name }) => [...name] }

test('an index finds in every version what a look at all objects finds, whenever it was first asked for', () => {
  checkProperty(
    fc.property(
      fc.array(step, { maxLength: 40 }),
      fc.array(fc.nat({ max: 40 }), { maxLength: 6 }),
      (steps, requested) => {
        const versions: [Dictionary<Item>, Plain][] = [[recordFrom<Item>([]), {}]]
        for (const [at, one] of steps.entries()) {
          if (requested.includes(at)) recordFind(versions.at(-1)?.[0] ?? {}, byLetter, '7')
          versions.push(after(versions, one))
        }
        for (const [record, plain] of versions) {
          const all = sorted(plain).map(([, value]) => value)
          const named = (text: string) => all.filter(({ name }) => name.includes(text))
          for (const letter of ['7', '0', 'n', 'x']) {
            expect(recordFind(record, byLetter, letter)).toEqual(named(letter))
            expect(recordHas(record, byLetter, letter)).toBe(named(letter).length > 0)
          }
          const begun = [...recordFindPrefix(record, byName, 'name1')].map(({ name }) => name)
          expect(begun).toEqual(
            all
              .map(({ name }) => name)
              .filter((name) => name.startsWith('name1'))
              .sort(),
          )
        }
      },
    ),
  )
})

test('a view cannot be changed', () => {
  const record = recordFrom([['a', { name: 'x' }]]) as Record<string, Item>
  expect(() => (record['a'] = { name: 'y' })).toThrow(TypeError)
  expect(() => delete record['a']).toThrow(TypeError)
  expect(record['a']).toEqual({ name: 'x' })
  expect(record['constructor']).toBeUndefined()
})
