// Filters are read, bounded, and applied.
import { QueryFilterParseError } from '../../../src/model/errors'
import { FILTER_CONDITIONS_MAX } from '../../../src/model/limits/queries'
import {
  type Filter,
  type FilterField,
  compileFilter,
  parseFilter,
  refuseWide,
  requestedNames,
  serializeFilter,
} from '../../../src/query/filter'

type Row = Record<string, unknown>

const PENDING = Symbol('pending')

function field(name: string): FilterField<Row> | undefined {
  if (name === 'nosuch') return undefined
  const compare = name === 'host' ? 'host' : name === 'ts' ? 'seconds' : 'plain'
  return {
    compare,
    read: (row) => {
      const value = row[name]
      if (value === PENDING) return { state: 'pending' }
      return value === undefined ? { state: 'missing' } : { state: 'value', value }
    },
  }
}

const verdict = (json: unknown, row: Row) => compileFilter(parseFilter(json), field)(row)

describe('reading', () => {
  test.each([
    ['an unknown operator', ['=*', 'a', 'b'], "Unknown filter operand '=*'"],
    ['an empty list', [], 'Cannot deserialise filter: expected array [string, args], got []'],
    ['a text', 'str', 'Cannot deserialise filter: expected array [string, args], got "str"'],
    ['a boolean value', ['==', 'a', true], 'Cannot deserialise filter value, expecting string or integer, got true'],
    [
      'a fraction',
      ['==', 'a', 1.5],
      'Cannot deserialise numeric filter value, expecting integral but got a fractional value: 3 % 2',
    ],
    ['two operands of !', ['!', ['|'], ['|']], 'Cannot deserialise field, expected [filter] but got [["|"], ["|"]]'],
    ['no operand of ?', ['?'], 'Cannot deserialise field, expected [fieldname] but got []'],
    ['one operand of <', ['<', 'a'], 'Cannot deserialise field/value pair, expected [fieldname, value] but got ["a"]'],
    ['a field that is no text', ['?', 3], 'Unable to read String'],
    ['a field that is a list', ['=', ['a'], 'x'], 'Unable to read Char'],
    ['a pattern that is no text', ['=~', 'a', null], 'Unable to read String'],
  ])('refuses %s', (_what, json, text) => {
    expect(() => parseFilter(json)).toThrow(new QueryFilterParseError(text))
  })

  test('refuses a regular expression that does not compile, at once', () => {
    expect(() => parseFilter(['=~', 'a', '('])).toThrow(/Invalid regular expression "\("/)
  })

  test('refuses nesting without end and long expressions', () => {
    let deep: unknown = ['|']
    for (let level = 0; level < 100; level++) deep = ['!', deep]
    expect(() => parseFilter(deep)).toThrow(/nested deeper/)
    expect(() => parseFilter(['=~', 'a', 'x'.repeat(5000)])).toThrow(/longer than/)
  })

  test('looks at only so many conditions for each object', () => {
    const many = (count: number) => parseFilter(['&', ...Array.from({ length: count - 1 }, () => ['!', ['?', 'a']])])
    expect(() => refuseWide(many(FILTER_CONDITIONS_MAX / 2))).not.toThrow()
    expect(() => refuseWide(many(FILTER_CONDITIONS_MAX))).toThrow(/more than 2000; ask in several requests/)
  })

  test('many names in lists of lists are names', () => {
    const names = Array.from({ length: 200_000 }, (_, at) => ['==', 'name', `n${at}`])
    expect(requestedNames(parseFilter(['|', ['|', ...names]]), 'name')).toHaveLength(names.length)
  })

  test('writes back the normal spelling', () => {
    const input = [
      '&',
      ['=', 'name', 'x'],
      ['!=', 'a', 3],
      ['?', 'f'],
      ['=~', 'n', '^a'],
      ['=[]', 't', 'u'],
      ['<=', 'm', 5],
    ]
    const normal = [
      '&',
      ['==', 'name', 'x'],
      ['!', ['==', 'a', 3]],
      ['?', 'f'],
      ['=~', 'n', '^a'],
      ['=[]', 't', 'u'],
      ['<=', 'm', 5],
    ]
    expect(serializeFilter(parseFilter(input))).toEqual(normal)
    expect(serializeFilter(parseFilter(normal))).toEqual(normal)
    expect(serializeFilter(parseFilter(null))).toBeNull()
    expect(serializeFilter(parseFilter(['!', ['|']]))).toEqual(['!', ['|']])
  })
})

describe('verdicts', () => {
  test.each<[unknown, Row, boolean]>([
    [['&'], {}, true],
    [['|'], {}, false],
    [['==', 'a', 'x'], { a: 'x' }, true],
    [['==', 'a', 'x'], { a: 'x.y' }, false],
    [['==', 'host', 'x'], { host: 'x.y' }, true],
    [['==', 'host', 'x'], { host: 'xx.y' }, false],
    [['!=', 'host', 'x'], { host: 'x.y' }, false],
    [['<', 'a', 'b'], { a: 'a' }, true],
    [['<', 'a', 10], { a: 9 }, true],
    [['>', 'a', 10], { a: 10 }, false],
    [['>=', 'a', 10], { a: 10 }, true],
    [['<=', 'a', 9], { a: 10 }, false],
    [['=[]', 'a', 2], { a: [1, 2] }, true],
    [['?', 'a'], { a: false }, false],
    [['==', 'ts', 5], { ts: [5, 999] }, true],
    [['=~', 'a', '(?i)^WEB'], { a: 'web1' }, true],
    [['=~', 'a', '\\Aweb[[:digit:]]+\\z'], { a: 'web12' }, true],
    [['=~', 'a', 'eb'], { a: 'web1' }, true],
    // An unknown value passes `==`, so it fails `!=`, which is its opposite.
    [['==', 'a', 'x'], {}, true],
    [['!=', 'a', 'x'], {}, false],
  ])('%j of %j is %j', (json, row, expected) => {
    expect(verdict(json, row)).toBe(expected)
  })

  test.each<[unknown, unknown, string]>([
    [['==', 'a', 'x'], 64, 'Invalid types in comparison, trying to compare 64 with \'QuotedString "x"\''],
    [['==', 'a', 'x'], [], 'Invalid types in comparison, trying to compare [] with \'QuotedString "x"\''],
    [['<', 'a', 5], 'x', 'Invalid types in comparison, trying to compare "x" with \'NumericValue 5\''],
    [['?', 'a'], 1, "Unexpected value '1' in boolean context"],
    [['=~', 'a', 'x'], 1, "Invalid field value used in regexp matching, expecting string but got '1'"],
    [['<', 'a', -5], 'x', 'Invalid types in comparison, trying to compare "x" with \'NumericValue (-5)\''],
    [['=[]', 'a', 'x'], 'x', 'Cannot convert value \'"x"\', error: Unable to read list'],
    [['=[]', 'a', 'x'], [1], "Cannot convert value '[1]', error: Unable to read String"],
    [['=[]', 'a', 5], ['x'], 'Cannot convert value \'["x"]\', error: Unable to read Integer'],
  ])('%j of %j is a mistake of the asker', (json, value, text) => {
    expect(() => verdict(json, { a: value })).toThrow(text)
  })

  test('a field that does not exist is refused even when no row is there', () => {
    expect(() => compileFilter(parseFilter(['!', ['==', 'nosuch', 1]]), field)).toThrow(
      "Can't find field named 'nosuch'",
    )
  })

  test('before live data is there, only what is sure is decided', () => {
    const row = { known: 'yes', live: PENDING }
    expect(verdict(['==', 'live', 1], row)).toBeUndefined()
    expect(verdict(['!=', 'live', 1], row)).toBeUndefined()
    expect(verdict(['&', ['==', 'known', 'no'], ['==', 'live', 1]], row)).toBe(false)
    expect(verdict(['|', ['==', 'known', 'yes'], ['==', 'live', 1]], row)).toBe(true)
    expect(verdict(['&', ['==', 'known', 'yes'], ['==', 'live', 1]], row)).toBeUndefined()
  })

  test('an expression that backtracks without end still ends', () => {
    expect(verdict(['=~', 'a', '^(a+)+$'], { a: 'a'.repeat(60) + 'b' })).toBe(false)
  })
})

test('only a choice of names asks for names', () => {
  const names = (json: unknown) => requestedNames(parseFilter(json), 'name')
  expect(names(['==', 'name', 'b'])).toEqual(['b'])
  expect(names(['|', ['==', 'name', 'b'], ['|', ['=', 'name', 'a']]])).toEqual(['b', 'a'])
  expect(names(['|'])).toBeNull()
  expect(names(['==', 'uuid', 'b'])).toBeNull()
  expect(names(['&', ['==', 'name', 'b']])).toBeNull()
  expect(names(['|', ['==', 'name', 'b'], ['=~', 'name', 'a']])).toBeNull()
  expect(names(null)).toBeNull()
})

const typed: Filter = parseFilter(null)
test('no filter lets everything pass', () => expect(compileFilter(typed, field)({})).toBe(true))
