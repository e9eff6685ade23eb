// What a caller is told it may do is what it is not refused.
import { gantryCalls } from '../../../../src/rpc/luxi/gantry-calls'
import { allOpcodes } from '../../../../src/opcodes/index'
import { objectsOf } from '../../../../src/opcodes/objects'
import { permissionNames } from '../../../../src/opcodes/permission'
import { Access } from '../../../../src/services/access/access'
import { rightsOf } from '../../../../src/services/access/rights'
import { goldenConfig } from '../../../support/golden-query'

const token = (scope: { tags?: readonly string[]; groups?: readonly string[]; permissions?: readonly string[] }) =>
  new Access({ user: 'u', token: 't', permissions: ['*'] }, { permissions: ['*'], tags: [], groups: [], ...scope })
const config = goldenConfig()
const web = rightsOf(token({ tags: ['web'] }), config)

test('whoever is limited to nothing has no scope, and every permission that was given', () => {
  const all = { permissions: permissionNames, scope: null, beyond_scope: [], empty_kinds: [] }
  expect(rightsOf(new Access({ user: 'u', token: null, permissions: ['*'] }, null), config)).toEqual(all)
  expect(rightsOf(token({}), config)).toEqual(all)
})

test('a token with a scope is told its scope, and what it can do nothing with', () => {
  expect(web.scope).toEqual({ tags: ['web'], groups: [] })
  expect(web.beyond_scope).toEqual(
    expect.arrayContaining(['cluster.modify', 'filter.create', 'filter.modify', 'groups.create', 'networks.create']),
  )
  expect(web.permissions).toEqual(
    expect.arrayContaining([
      'cluster.info',
      'cluster.verify',
      'instances.create',
      'nodes.query',
      'nodes.add',
      'tags.set',
    ]),
  )
  expect([...web.permissions, ...web.beyond_scope].sort()).toEqual(permissionNames)
})

test('it is told only of permissions that it has', () => {
  const { permissions, beyond_scope } = rightsOf(
    token({ tags: ['web'], permissions: ['instances.*', 'groups.create'] }),
    config,
  )
  expect(permissions.every((name) => name.startsWith('instances.'))).toBe(true)
  expect(beyond_scope).toEqual(['groups.create'])
})

test('no opcode and no call that needs one of these is for a token with a scope', () => {
  const access = token({ tags: ['web'] })
  const isBeyond = (permission: string | null) => permission !== null && web.beyond_scope.includes(permission)
  const opcodes = [...allOpcodes.values()].filter(({ permission }) => isBeyond(permission))
  expect(opcodes.length).toBeGreaterThan(5)
  for (const { id, params } of opcodes) {
    const op = { OP_ID: id, ...Object.fromEntries(Object.keys(params).map((name) => [name, 'inst2.gnt.example'])) }
    expect([id, objectsOf(op).every((object) => !access.sees(config, object))]).toEqual([id, true])
    expect(() => access.check(config, op)).toThrow('outside the scope')
  }
  for (const { wire, needs, forEverybody } of Object.values(gantryCalls).filter(({ needs }) => isBeyond(needs)))
    expect([wire, needs, forEverybody]).toEqual([wire, needs, true])
})

test('it is told of which kinds its scope has no object, because it can name none', () => {
  const tagged = <T extends object>(all: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(all).map(([uuid, one]) => [uuid, { ...one, tags: ['none'] }]))
  const empty = (known: typeof config) => rightsOf(token({ tags: ['none'] }), known).empty_kinds
  expect(empty(config)).toEqual(['instance', 'node', 'group', 'network'])
  expect(empty({ ...config, instances: tagged(config.instances) })).toEqual(['node', 'group', 'network'])
  expect(empty({ ...config, nodes: tagged(config.nodes) })).toEqual(['instance', 'group', 'network'])
  expect(rightsOf(token({ groups: ['default'] }), config).empty_kinds).toEqual(['network'])
})
