import { permissionsOf } from '../../../src/model/permissions'
import { Access, objectsOf } from '../../../src/services/access'
import { goldenConfig } from '../../support/golden-query'

const config = goldenConfig()
const instances = Object.values(config.instances)
const tagged = instances.find(({ tags }) => tags.length > 0)
const other = instances.find(({ tags }) => tags.length === 0)
const [group] = Object.values(config.nodegroups)
const node = Object.values(config.nodes).find((one) => one.group === group?.uuid)

const token = (scope: { tags?: readonly string[]; groups?: readonly string[] }, permissions = ['*']) =>
  new Access({ user: 'u', token: 't', permissions: ['*'] }, { tags: [], groups: [], permissions, ...scope })
const refused = /outside the scope/
const startup = (more: object) => ({ OP_ID: 'OP_INSTANCE_STARTUP', ...more })

test('a scope of tags admits what has one of them, by name and by uuid', () => {
  const access = token({ tags: [...(tagged?.tags ?? [])] })
  expect(access.sees(config, `instance/${tagged?.name}`)).toBe(true)
  expect(() => access.check(config, startup({ instance_name: tagged?.name }))).not.toThrow()
  expect(() => access.check(config, startup({ instance_name: other?.name }))).toThrow(refused)
  // An object that is in the scope does not help another one in.
  const both = startup({ instance_name: tagged?.name, instance_uuid: other?.uuid })
  expect(() => access.check(config, both)).toThrow(refused)
  expect(() => access.check(config, { OP_ID: 'OP_CLUSTER_VERIFY' })).toThrow(refused)
})

test('a scope of groups admits nodes and new instances in them', () => {
  const inside = token({ groups: [group?.name ?? ''] })
  const outside = token({ groups: ['nowhere'] })
  const create = { OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'new', pnode: node?.name, tags: [] }
  expect(() => inside.check(config, create)).not.toThrow()
  expect(() => outside.check(config, create)).toThrow(refused)
  expect(() => inside.check(config, { ...create, pnode: undefined })).toThrow(refused)
  expect(() => inside.check(config, { ...create, source_instance_name: 'no such' })).toThrow(refused)
})

test('a scope keeps out the data of others: their exports, and disks of no instance', () => {
  const access = token({ tags: [...(tagged?.tags ?? [])] })
  const create = { OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'new', tags: tagged?.tags }
  expect(() => access.check(config, create)).not.toThrow()
  const imported = { ...create, mode: 'import' }
  expect(() => access.check(config, { ...imported, src_path: `/exports/${tagged?.name}` })).not.toThrow()
  expect(() => access.check(config, { ...imported, src_path: `/exports/${other?.name}` })).toThrow(refused)
  expect(() => access.check(config, imported)).toThrow(refused)
  expect(() => access.check(config, { ...create, disks: [{ size: 4 }] })).not.toThrow()
  expect(() => access.check(config, { ...create, disks: [{ adopt: 'lv1' }] })).toThrow(refused)
  const set = { OP_ID: 'OP_INSTANCE_SET_PARAMS', instance_name: tagged?.name }
  expect(() => access.check(config, { ...set, disks: [['add', { size: 4 }]] })).not.toThrow()
  expect(() => access.check(config, { ...set, disks: [['attach', -1, { uuid: 'u' }]] })).toThrow(refused)
})

test('a token has no permission that it or its user lacks', () => {
  expect(token({}, ['nodes.query']).may('nodes.query')).toBe(true)
  expect(token({}, ['nodes.query']).may('nodes.remove')).toBe(false)
  const reader = new Access(
    { user: 'u', token: 't', permissions: ['*.query'] },
    { tags: [], groups: [], permissions: ['*'] },
  )
  expect(reader.may('nodes.remove')).toBe(false)
})

test('who may query one object may list them all, unless that was taken away', () => {
  const reads = ['nodes.query', 'nodes.list', 'instances.info', 'cluster.info', 'jobs.list', 'os.list', 'events.query']
  for (const name of reads) expect([name, token({}, ['*.query']).may(name)]).toEqual([name, true])
  expect(token({}, ['nodes.query']).may('nodes.list')).toBe(true)
  expect(token({}, ['nodes.query']).may('instances.list')).toBe(false)
  expect(token({}, ['nodes.list']).may('nodes.query')).toBe(false)
  expect(token({}, ['*.query', '-nodes.list']).may('nodes.list')).toBe(false)
  expect(token({}, ['*.query']).may('instances.startup')).toBe(false)
})

test('what an opcode does beyond its name needs the permission of what does only that', () => {
  const operator = new Access({ user: 'u', token: null, permissions: permissionsOf(['@operator']) }, null)
  const start = { OP_ID: 'OP_INSTANCE_STARTUP', instance_name: other?.name }
  const fetch = { OP_ID: 'OP_BACKUP_EXPORT', instance_name: other?.name }
  for (const op of [start, { ...start, hvparams: {}, beparams: null }, fetch, { ...fetch, remove_instance: false }])
    expect(() => operator.check(config, op)).not.toThrow()
  const exec = { kvm_extra: '-incoming exec:id' }
  expect(() => operator.check(config, { ...start, hvparams: exec })).toThrow('needs the permission instances.modify')
  expect(() => operator.check(config, { ...start, beparams: { maxmem: 1 } })).toThrow('instances.modify')
  expect(() => operator.check(config, { ...fetch, remove_instance: true })).toThrow('instances.remove')
})

test('the objects of an opcode are those that its parameters name', () => {
  expect(objectsOf({ OP_ID: 'OP_TAGS_SET', kind: 'nodegroup', name: 'g', tags: ['x'] })).toEqual(['group/g'])
  expect(objectsOf({ OP_ID: 'OP_NODE_MIGRATE', node_name: 'n', target_node_uuid: 'u' })).toEqual(['node/n', 'node/u'])
})
