// Values of options are read as Ganeti reads them.
import type { Option, OptionType } from '../../../../src/cli/input/option'
import { UsageError } from '../../../../src/cli/outcome'
import { ParameterError } from '../../../../src/model/errors'
import { parseValue } from '../../../../src/cli/input/parse-value'

const option = (type: OptionType, details: Partial<Option> = {}): Option => ({
  ...{ long: ['--x'], dest: 'x', help: '' },
  ...details,
  type,
})
const parse = (type: OptionType, text: string, details?: Partial<Option>) =>
  parseValue(option(type, details), text, '--x')

test.each<[OptionType, string, unknown]>([
  ['int', '-7', -7],
  ['float', '1.5', 1.5],
  ['bool', 'YES', true],
  ['bool', 'false', false],
  ['unit', '1.5g', 1536],
  ['unit', '129', 132],
  ['list', '', []],
  ['list', 'a, b', ['a', ' b']],
  ['list', 'a\\,b,c', ['a,b', 'c']],
  ['maybefloat', 'default', 'default'],
  ['maybefloat', '4', 4],
  ['json', '[1]', [1]],
  ['filteraction', 'RATE_LIMIT 5', ['RATE_LIMIT', 5]],
  ['filteraction', 'PAUSE', 'PAUSE'],
  ['keyval', 'a=1,no_b,-c,d,e=x=y', { a: '1', b: false, c: null, d: true, e: 'x=y' }],
  ['keyval', 'a=1\\,2,b=c\\\\', { a: '1,2', b: 'c\\' }],
  ['keyval', '', {}],
  ['identkeyval', '0:size=1g,mode=ro', ['0', { size: '1g', mode: 'ro' }]],
  ['identkeyval', 'add', ['add', {}]],
  ['identkeyval', 'no_vnc', ['vnc', false]],
  ['identkeyval', '-vnc', ['vnc', null]],
  ['identkeyval', '-1:add,size=8', ['-1', { add: true, size: '8' }]],
  ['multilistidentkeyval', 'min:a=1/max:a=2//min:a=3', [{ min: { a: '1' }, max: { a: '2' } }, { min: { a: '3' } }]],
])('%s %j is %j', (type, text, expected) => {
  expect(parse(type, text)).toEqual(expected)
})

test.each<[OptionType, string]>([
  ['int', '1.5'],
  ['float', ''],
  ['bool', 'maybe'],
  ['unit', '5x'],
  ['json', '['],
  ['keyval', 'a=1,a=2'],
  ['identkeyval', 'no_vnc:a=1'],
  ['identkeyval', '-vnc:a=1'],
  ['multilistidentkeyval', 'min:a'],
  ['multilistidentkeyval', 'min:a=1///max:b=1'],
  ['multilistidentkeyval', 'min:a=1/min:b=1'],
])('%s %j is a mistake', (type, text) => {
  expect(() => parse(type, text)).toThrow(type.endsWith('keyval') || type === 'bool' ? ParameterError : UsageError)
})

test('a choice is one of its words', () => {
  expect(parse('choice', 'b', { choices: ['a', 'b'] })).toBe('b')
  expect(() => parse('choice', 'c', { choices: ['a', 'b'] })).toThrow("invalid choice: 'c' (choose from 'a', 'b')")
})
