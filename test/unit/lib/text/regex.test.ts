// Patterns that users send can take no time without end.
import { compileRegex } from '../../../../src/lib/text/regex'

const TEXT = `${'a'.repeat(40)}!`

test.each(['^(a+)+$', '(?i)^(A+)+$', '(?m)^(a|a)*$', '^(a+){1,500}$'])('%s is found not to match at once', (source) => {
  expect(compileRegex(source).test(TEXT)).toBe(false)
})

test.each([
  '^(?=a)(a+)+$',
  '^(a+)+\\1$',
  '^((a{0,30}){0,30}){0,30}$',
  '(?i)^(?!b)(a+)+$',
  '(?:.|.)*(?=\\x00)',
  '(?:.|.)(?:.|.)(?!a)',
])('%s could take for ever, and is refused', (source) => {
  expect(() => compileRegex(source)).toThrow(/could take for ever/)
})

test('a pattern with few repetitions is understood as before', () => {
  const matches = (source: string, text: string) => compileRegex(source).test(text)
  expect(matches('^(?!web).*$', 'db1')).toBe(true)
  expect(matches('^(?!web).*$', 'web1')).toBe(false)
  expect(matches('(?i)^WEB[0-9]{1,3}\\.', 'Web12.example.com')).toBe(true)
  expect(matches('(?i)^\\S+\\D$', 'Web12.Example')).toBe(true)
  expect(matches('(?i)[[:upper:]]x', 'aX')).toBe(true)
})

test('Perl’s anchors and classes are understood', () => {
  expect(compileRegex('\\Aweb\\d+\\Z').test('web12')).toBe(true)
  expect(compileRegex('^a\\hb\\z').test('a b')).toBe(true)
  expect(['a b', 'a,b', 'a]b'].map((text) => compileRegex('a[\\h,]b').test(text))).toEqual([true, true, false])
  expect(() => compileRegex('(?=x)[[:alpha:]]')).toThrow(/^Invalid regular expression .*\(\?=/)
})

// The answers of Python's re.
test.each([
  ['\\x41', 'a', true],
  ['\\x41', 'A', true],
  ['\\u00c9', 'é', true],
  ['É', 'É', true],
  ['\\101', 'a', true],
  ['\\x2e', 'x', false],
  ['[\\x41-\\x43]', 'B', true],
  ['[^\\x41-\\x43]', 'b', false],
  ['^[A-z]$', '_', true],
  ['^[Z-a]$', 'Z', true],
  ['^[Z-a]$', 'b', false],
  ['^[!-Z]$', 'q', true],
  ['^[À-Þ]$', 'É', true],
  ['^[\\d-X]$', 'x', true],
  ['^(?<Name>A)\\k<Name>$', 'aA', true],
  ['\\W\\D\\S', 'AA', false],
])('without regard to case, %s: whether %s matches is %s', (source, text, answer) => {
  expect(compileRegex(`(?i)${source}`).test(text)).toBe(answer)
})
