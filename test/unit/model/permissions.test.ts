import { allows, permissionsOf } from '../../../src/model/permissions'
import { opcodeIds } from '../../../src/opcodes/index'
import { permissionOf } from '../../../src/opcodes/permission'

test.each([
  [['write'], 'instances.create', true],
  [['read'], 'instances.query', true],
  [['read'], 'instances.create', false],
  [[], 'nodes.query', true],
  [['@readonly', '+instances.startup'], 'instances.startup', true],
  [['@readonly', '+instances.startup'], 'instances.remove', false],
  [['@admin', '-cluster.destroy'], 'cluster.destroy', false],
  [['@admin', '-cluster.*'], 'cluster.query', false],
  [['instances.*'], 'instances.query', true],
  [['instances.*'], 'nodes.query', false],
  [['-jobs.query'], 'jobs.query', false],
  [['-jobs.query'], 'nodes.query', true],
  [['nonsense', '@nobody'], 'nodes.remove', false],
])('a user with %j and %s: %s', (options, wanted, expected) => {
  expect(allows(permissionsOf(options), wanted)).toBe(expected)
})

test('every opcode has a permission that a pattern can name', () => {
  for (const id of opcodeIds) expect(permissionOf(id)).toMatch(/^[a-z]+\.[a-z-]+$/)
})

test('opcodes that only read need no more than a reader has', () => {
  const reading = opcodeIds.filter((id) => allows(['*.query'], permissionOf(id)))
  expect(reading).toContain('OP_INSTANCE_QUERY_DATA')
  for (const id of reading) expect(id).toMatch(/QUERY|TAGS_(GET|SEARCH)|DIAGNOSE/)
})
