// What users and tokens may do, and that everything that can be done asks for a permission.
import { readdirSync, readFileSync } from 'node:fs'
import * as path from 'node:path'
import { readPermission } from '../../../src/daemons/rapi/read-permission'
import { routes } from '../../../src/generated/rapi-routes'
import { allows, isPermissionPattern, permissionsOf, withoutRoles } from '../../../src/model/permissions'
import { allOpcodes } from '../../../src/opcodes/index'
import { gantryCalls } from '../../../src/rpc/luxi/gantry-calls'
import { badPermission, permissionNames } from '../../../src/opcodes/permission'

test.each([
  [['write'], 'instances.create', true],
  [['read'], 'instances.query', true],
  [['read'], 'instances.create', false],
  [[], 'nodes.query', true],
  [['@nosuch'], 'nodes.query', false],
  [['write', '-instances.startup'], 'instances.startup', false],
  [['@readonly', '+instances.startup'], 'instances.startup', true],
  [['@readonly', '+instances.startup'], 'instances.remove', false],
  [['@admin', '-cluster.destroy'], 'cluster.destroy', false],
  [['@admin', '-cluster.*'], 'cluster.info', false],
  [['all'], 'cluster.modify', true],
  [['@operator'], 'instances.export.create', true],
  [['@operator'], 'instances.modify', false],
  [['-jobs.cancel', '@admin'], 'jobs.cancel', false],
  [['instances.export.*'], 'instances.export.remove', true],
  [['*.query'], 'nodes.query', true],
  [['*.query'], 'nodes.role.query', false],
  [['instances.create', 'instances.list'], 'instances.query', false],
  [['instances.*'], 'instances.query', true],
  [['instances.*'], 'nodes.query', false],
  [['-jobs.query'], 'jobs.query', false],
  [['-jobs.query'], 'nodes.query', true],
  [['nonsense', '@nobody'], 'nodes.remove', false],
  [['@readonly', '-instances.query'], 'instances.list', false],
  [['@readonly', '-instances.query'], 'instances.info', false],
  [['@readonly', '-*.query'], 'nodes.list', false],
  [['@readonly', '-instances.query'], 'nodes.list', true],
  [['@readonly', '-instances.list'], 'instances.query', true],
])('a user with %j and %s: %s', (options, desired, expected) => {
  expect(allows(permissionsOf(options), desired)).toBe(expected)
})

test('every opcode has a permission that a pattern can name', () => {
  for (const { id, permission } of allOpcodes.values())
    expect([id, isPermissionPattern(permission)]).toEqual([id, true])
})

test('opcodes that a reader may submit change nothing', () => {
  const readers = permissionsOf(['@readonly'])
  const reading = [...allOpcodes.values()].filter(({ permission }) => allows(readers, permission)).map(({ id }) => id)
  expect(reading).toContain('OP_INSTANCE_QUERY_DATA')
  for (const id of reading) expect(id).toMatch(/QUERY|TAGS_(GET|SEARCH)|DIAGNOSE|CLUSTER_(BALANCE|CAPACITY|WHAT_IF)/)
})

test('a permission that Ganeti has is asked for by its name', () => {
  const ours = new Set<string>([...allOpcodes.values()].map(({ permission }) => permission))
  for (const name of GANETIS) expect([name, ours.has(name)]).toEqual([name, true])
})

test('everybody may read only what tells nothing of the cluster; all else is an opcode, or says its permission', () => {
  const open = routes.filter((route) => route.verb === 'get' && !route.path.startsWith('/3') && !readPermission(route))
  const submitting = ['/2/instances/:name/info', '/2/nodes/:name/storage']
  expect(open.map((route) => route.path).sort()).toEqual(['/', '/2', '/2/features', ...submitting, '/version'].sort())
})

test('every permission that is asked for somewhere is one that a token can have', () => {
  const requested = sourceFiles('src').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/\b(?:need|may)\('([a-z_.]+)'\)/g)].map(([, name]) => name),
  )
  expect(requested).toContain('jobs.cancel')
  const ofCalls = Object.values(gantryCalls).flatMap(({ needs }) => needs ?? [])
  const read = routes.map(readPermission).filter((name) => name !== undefined)
  for (const name of [...requested, ...read, ...ofCalls])
    expect([name, permissionNames.includes(name ?? '')]).toEqual([name, true])
})

test.each([
  ['@readonly'],
  ['*.query'],
  ['nodes.query'],
  ['nodes.*'],
  ['*'],
  ['-instances.remove'],
  ['nodes.storage.*'],
])('%s is a permission for a token', (pattern) => expect(badPermission([pattern])).toBe(undefined))

test.each([['@nobody'], ['node.query'], ['nodes.read'], ['*.read'], ['nope.*'], ['query'], ['']])(
  '%s is refused with the forms of permissions',
  (pattern) => expect(badPermission(['*.query', pattern])).toMatch(`'${pattern}' is no permission; `),
)

test('a role stands for its permissions', () => {
  expect(withoutRoles(['@admin', 'jobs.list', '@nobody'])).toEqual(['*', 'jobs.list', '@nobody'])
  expect(withoutRoles(['@readonly'])).toContain('instances.list')
})

test('what is refused is told with what is like it, and not with all there is', () => {
  expect(badPermission(['node.query'])).toContain("'node.query' is no permission; it is like nodes.query")
  expect(badPermission(['@nobody'])?.length).toBeLessThan(400)
})

const sourceFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => path.join(folder, file))

/** The permissions of Ganeti's role-based access control that opcodes need. */
const GANETIS = [
  ...['multi_alloc', 'create', 'grow_disk', 'modify', 'remove', 'info', 'reboot', 'startup', 'shutdown', 'migrate'],
  ...['failover', 'rename', 'reinstall', 'replace_disks', 'recreate_disks', 'activate_disks', 'deactivate_disks'],
  ...['export.prepare', 'export.create', 'export.remove', 'query.console'],
]
  .map((verb) => `instances.${verb}`)
  .concat(
    ['powercycle', 'evacuate', 'migrate', 'modify', 'storage.query', 'storage.modify', 'storage.repair'].map(
      (verb) => `nodes.${verb}`,
    ),
    ['create', 'remove', 'connect', 'disconnect', 'modify', 'rename'].map((verb) => `networks.${verb}`),
    ['create', 'delete', 'modify', 'rename', 'assign_nodes'].map((verb) => `groups.${verb}`),
    ['query.all', 'os.list', 'cluster.info', 'cluster.modify', 'cluster.redistribute_config'],
    ['tags.get', 'tags.set', 'tags.delete'],
  )
