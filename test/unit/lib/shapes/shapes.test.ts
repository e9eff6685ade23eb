// Shapes read values from outside, or refuse them in Ganeti's words and in plain ones.
import { dictOf, either, listOf, orNull, setOf, tuple } from '../../../../src/lib/shapes/containers'
import { any, bool, int, json, nonEmpty, oneOf, string, text } from '../../../../src/lib/shapes/leaves'
import { defaulted, objectOf, optional, partialOf } from '../../../../src/lib/shapes/objects'
import { Explained, type FileNames, Mismatch, type Shape, lazy, mapped } from '../../../../src/lib/shapes/shape'
import { plainly } from '../../../../src/lib/shapes/words'

function refusal(shape: Shape<unknown>, value: unknown): Mismatch {
  try {
    shape.parse(value)
  } catch (error) {
    if (error instanceof Mismatch) return error
    throw error
  }
  throw new Error('the value was accepted')
}

const disk = objectOf({ size: int, mode: optional(oneOf('DiskMode', ['ro', 'rw'])) }, { others: 'refused' })
const instance = objectOf(
  { name: nonEmpty, disks: listOf(disk), tags: defaulted(setOf(text), () => []), params: optional(dictOf(int)) },
  { others: 'refused' },
)

test('an object has its keys in the declared order, and what is missing or null has its default or is left out', () => {
  const read = instance.parse({ tags: null, params: null, disks: [{ mode: 'ro', size: 1 }], name: 'vm1' })
  expect(JSON.stringify(read)).toBe('{"name":"vm1","disks":[{"size":1,"mode":"ro"}],"tags":[]}')
})

test.each([
  ['a list', [], 'Unable to read JSObject', 'vm1: expected an object'],
  [
    'a missing key',
    { disks: [] },
    `key 'name' not found, object contains only ["disks"]`,
    'key "name" is missing in vm1',
  ],
  [
    'an unknown key',
    { name: 'a', disks: [{ size: 1, colour: 'red' }] },
    `Can't parse value for 'disks': Superfluous dictionary keys: ["colour"], but only ["mode","size"] allowed.`,
    'unknown key "colour" in vm1: disks[0]',
  ],
  [
    'a value of another kind',
    { name: 'a', disks: [{ size: 1 }, { size: '1' }] },
    `Can't parse value for 'disks': Can't parse value for 'size': Unable to read Int`,
    'vm1: disks[1]: size: expected an integer',
  ],
  [
    'a value that is not one of the enumeration',
    { name: 'a', disks: [{ size: 1, mode: 'x' }] },
    `Can't parse value for 'disks': Can't parse value for 'mode': Invalid string value for type DiskMode: "x"`,
    'vm1: disks[0]: mode: expected one of "ro", "rw"',
  ],
  [
    'an entry of a dictionary',
    { name: 'a', disks: [], params: { b: true } },
    `Can't parse value for 'params': key 'b': Unable to read Int`,
    'vm1: params.b: expected an integer',
  ],
])("%s is refused in Ganeti's words and in plain ones", (_what, value, ganeti, plain) => {
  const error = refusal(instance, value)
  expect(error.message).toBe(ganeti)
  expect(plainly(error, { place: 'vm1' })).toBe(plain)
})

test('the found value is shown only to those who ask for it', () => {
  const error = refusal(listOf(int), [1, 'secret'])
  expect(plainly(error)).toBe('[1]: expected an integer')
  expect(plainly(error, { found: true })).toBe('[1]: expected an integer, found "secret"')
})

test('other keys are refused, dropped or kept behind the known ones', () => {
  const input = { b: 2, a: 1 }
  expect(() => objectOf({ a: int }, { others: 'refused' }).parse(input)).toThrow('Superfluous')
  expect(objectOf({ a: int }, { others: 'dropped' }).parse(input)).toEqual({ a: 1 })
  expect(JSON.stringify(partialOf({ a: int }, { others: 'kept' }).parse(input))).toBe('{"a":1,"b":2}')
})

test('a key with the name of something built in is a key like any other', () => {
  const input: unknown = JSON.parse('{"__proto__": 1, "constructor": 2}')
  const read = dictOf(int).parse(input)
  expect(Object.keys(read)).toEqual(['__proto__', 'constructor'])
  expect(Object.keys(partialOf({}, { others: 'kept' }).parse(input))).toEqual(['__proto__', 'constructor'])
  expect(() => partialOf({}, { others: 'refused' }).parse(input)).toThrow('Superfluous')
})

test('a text for a program has no NUL, wherever it is; one for JSON may', () => {
  for (const value of ['a\0', ['\0'], { '\0': 1 }]) expect(refusal(any, value)).toBeInstanceOf(Explained)
  expect(refusal(text, 'a\0')).toBeInstanceOf(Explained)
  expect(string.parse('a\0')).toBe('a\0')
  expect(json.parse({ '\0': 1 })).toEqual({ '\0': 1 })
})

test('the second of two shapes is tried where the first does not fit', () => {
  const id = either(int, nonEmpty)
  expect([id.parse(1), id.parse('a')]).toEqual([1, 'a'])
  expect(() => id.parse('')).toThrow('Received empty value')
})

test('a shape can be part of itself', () => {
  interface Tree {
    readonly children: readonly Tree[]
  }
  const tree: Shape<Tree> = objectOf({ children: listOf(lazy(() => tree)) }, { others: 'refused' })
  expect(tree.parse({ children: [{ children: [] }] })).toEqual({ children: [{ children: [] }] })
  expect(plainly(refusal(tree, { children: [{}] }))).toBe('key "children" is missing in children[0]')
})

test('names of files are translated wherever they are, both ways', () => {
  const files: FileNames = { fromWire: (name) => `/local${name}`, toWire: (name) => name.slice('/local'.length) }
  const file: Shape<string> = {
    ...string,
    parse: (value, names) => names?.fromWire(string.parse(value)) ?? string.parse(value),
    encode: (value, names) => names.toWire(value),
  }
  const shape = objectOf(
    { moves: listOf(tuple(file, int)), log: orNull(file), by: dictOf(optional(file)) },
    { others: 'refused' },
  )
  const wire = { moves: [['/a', 1]], log: null, by: { x: '/b' } }
  const here = shape.parse(wire, files)
  expect(here).toEqual({ moves: [['/local/a', 1]], log: null, by: { x: '/local/b' } })
  expect(shape.encode?.(here, files)).toEqual(wire)
  expect(shape.parse(wire)).toEqual(wire)
  expect(objectOf({ a: bool, b: listOf(mapped(int, String)) }, { others: 'refused' }).encode).toBeUndefined()
})
