// Names that would be dangerous in paths, lines or commands are refused.
import { badNewName } from '../../../src/opcodes/new-names'

const create = (instance_name: string) => ({ OP_ID: 'OP_INSTANCE_CREATE', instance_name })
const group = (group_name: string) => ({ OP_ID: 'OP_GROUP_ADD', group_name })

test.each(['vm1', 'VM1.example.com', 'a_b-c.example.com.', 'x'.repeat(63)])(
  '%s may be the name of an instance',
  (name) => {
    expect(badNewName(create(name))).toBe(undefined)
  },
)

test.each([
  '',
  '../etc/passwd',
  'a;reboot',
  'a b',
  '$(id)',
  'a\0b',
  'a\nb',
  '..',
  'a..b',
  '.',
  '-x',
  'ä',
  'x'.repeat(64),
  `a.${'x'.repeat(70)}.example`,
  `${'x.'.repeat(128)}x`,
])('%j may not', (name) => {
  expect(badNewName(create(name))).toMatch(/^Parameter 'instance_name': '.*' is no name/)
})

test('control characters are not repeated as they are', () => {
  expect(badNewName(create('a\0b\x1b[2J'))).toContain(String.raw`'a\u0000b\u001b[2J'`)
})

test('groups and networks may have blanks, but nothing that breaks a path, a line or a command', () => {
  expect(badNewName(group('rack 2, left@hall-1'))).toBe(undefined)
  for (const name of [
    'a/b',
    '..',
    'a\nb',
    'a;b',
    '$x',
    '`id`',
    'a|b',
    '"',
    "'",
    'a&',
    '*',
    '(a)',
    '\\',
    '-x',
    '-g x',
    ' a',
    'a ',
  ])
    expect(badNewName(group(name))).toMatch(/^Parameter 'group_name'/)
})

test('each instance of many is looked at, and names of what is there are not', () => {
  const many = { OP_ID: 'OP_INSTANCE_MULTI_ALLOC', instances: [create('vm1'), create('a;b')] }
  expect(badNewName(many)).toMatch(/'a;b'/)
  expect(badNewName({ OP_ID: 'OP_INSTANCE_STARTUP', instance_name: '../x' })).toBe(undefined)
})
