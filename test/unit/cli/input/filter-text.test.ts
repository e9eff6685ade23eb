// Filters as people type them are those that queries understand.
import fc from 'fast-check'
import { globToRegex, looksLikeFilter, namesFilter, parseFilterText } from '../../../../src/cli/input/filter-text'
import { parseFilter } from '../../../../src/query/filter'
import { checkProperty } from '../../../support/effort'

test.each<[string, unknown]>([
  ['status == "running"', ['==', 'status', 'running']],
  ['be/maxmem >= 128', ['>=', 'be/maxmem', 128]],
  ['a != -1', ['!=', 'a', -1]],
  ['a = "x" or b < 2 and not c', ['|', ['=', 'a', 'x'], ['&', ['<', 'b', 2], ['!', ['?', 'c']]]]],
  ['(a or b) and c', ['&', ['|', ['?', 'a'], ['?', 'b']], ['?', 'c']]],
  ['a and b and c', ['&', ['?', 'a'], ['?', 'b'], ['?', 'c']]],
  ['"web" in tags', ['=[]', 'tags', 'web']],
  ['"web" not in tags', ['!', ['=[]', 'tags', 'web']]],
  ['3 in ids', ['=[]', 'ids', 3]],
  ['name =~ m/^web\\/[0-9]+/', ['=~', 'name', '^web\\/[0-9]+']],
  ['name =~ /x y/si', ['=~', 'name', '(?si)x y']],
  ['name !~ m#a/b#', ['!', ['=~', 'name', 'a/b']]],
  ['pnode =* "node?"', ['=~', 'pnode', '^node[^.](\\..*)?$']],
  ['pnode !* "node*"', ['!', ['=~', 'pnode', '^node[^.]*(\\..*)?$']]],
  ["name == 'it\\'s'", ['==', 'name', "it's"]],
])('%s', (text, expected) => {
  expect(parseFilterText(text)).toEqual(expected)
})

test.each(['', 'a ==', '== 1', '(a', 'a b', 'a = b', 'name =~ "x"', 'name =~ /x/q', 'a & b', '"x" in'])(
  '%j is refused with the place of the mistake',
  (text) => {
    expect(() => parseFilterText(text)).toThrow(
      /Failed to parse query filter .* {2}\(at char \d+\), \(line:1, col:\d+\)\n/,
    )
  },
)

test('names are a choice, globs match short and full names, job ids are numbers', () => {
  expect(namesFilter('name', [])).toBeNull()
  expect(namesFilter('name', ['a', 'web*'])).toEqual(['|', ['==', 'name', 'a'], ['=~', 'name', '^web[^.]*(\\..*)?$']])
  expect(namesFilter('id', ['7'], true)).toEqual(['|', ['==', 'id', 7]])
  expect(() => namesFilter('id', ['x'], true)).toThrow(
    "Invalid job ID passed: 'x' is not a number; gnt-job list shows the jobs",
  )
  const regex = new RegExp(globToRegex('web?'))
  expect(['web1', 'web1.example.com', 'web10', 'web.x'].map((name) => regex.test(name))).toEqual([
    true,
    true,
    false,
    false,
  ])
})

test('a name does not look like a filter', () => {
  expect(['web1.example.com', 'web*', 'a-b_c'].some(looksLikeFilter)).toBe(false)
  expect(['a == 1', '"x"', 'a/b', '(x)'].every(looksLikeFilter)).toBe(true)
})

test('whatever is typed gives a filter that queries accept, or a refusal', () => {
  const words = fc.constantFrom(
    'a',
    'be/x',
    'not',
    'and',
    'or',
    'in',
    '(',
    ')',
    '==',
    '=~',
    '=*',
    '"s"',
    '5',
    '/r/',
    '!=',
    '<',
  )
  checkProperty(
    fc.property(fc.array(words, { maxLength: 12 }), (parts) => {
      let filter: unknown
      try {
        filter = parseFilterText(parts.join(' '))
      } catch (error) {
        expect(String(error)).toMatch(/Failed to parse query filter/)
        return
      }
      expect(() => parseFilter(filter)).not.toThrow()
    }),
  )
})
