// Values become those of the types of their parameters.
import { niceSort } from '../../../src/model/nice-sort'
import { enforceTypes, parseUnit } from '../../../src/model/param-types'

test.each([
  ['512', 512],
  [510, 512],
  ['1.5g', 1536],
  ['1024 MiB', 1024],
  ['2T', 2097152],
  ['0', 0],
])('the size %s is %d MiB', (text, size) => {
  expect(parseUnit(text)).toBe(size)
})

test.each(['', 'x', '1k', '-4', '1..2'])('%j is not a size', (text) => {
  expect(() => parseUnit(text)).toThrow()
})

const types = { n: 'int', b: 'bool', s: 'string', m: 'maybe-string', z: 'size', f: 'float' } as const

test('values are coerced to the types of their parameters', () => {
  expect(enforceTypes({ n: '7', b: 'False', s: false, m: null, z: '1g', f: '0.5' }, types)).toEqual({
    n: 7,
    b: false,
    s: '',
    m: null,
    z: 1024,
    f: 0.5,
  })
  expect(enforceTypes({ n: 'default' }, types, ['default'])).toEqual({ n: 'default' })
})

test.each([
  [{ n: 'x' }, "'n' (value x) is not a valid integer"],
  [{ n: 1.5 }, "'n' (value 1.5) is not a valid integer"],
  [{ b: 'maybe' }, "'b' (value maybe) is not a valid boolean"],
  [{ s: 7 }, "'s' (value 7) is not a valid string"],
  [{ z: 'big' }, "'z' (value big) is not a valid size"],
  [{ f: '' }, "'f' (value ) is not a valid float"],
  [{ x: 1 }, "Unknown parameter 'x'"],
  [{ constructor: 1 }, "Unknown parameter 'constructor'"],
])('%j is refused', (params, message) => {
  expect(() => enforceTypes(params, types)).toThrow(message)
})

test('names sort with their numbers as numbers', () => {
  expect(niceSort(['node10', 'node2', 'node1.b', 'node1', 'a', 'node1.a10', 'node1.a9'])).toEqual([
    'a',
    'node1',
    'node1.a9',
    'node1.a10',
    'node1.b',
    'node2',
    'node10',
  ])
})
