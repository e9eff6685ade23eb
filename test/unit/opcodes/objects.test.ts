// Each opcode tells which objects it is about.
import { allOpcodes } from '../../../src/opcodes/index'
import { objectsOf } from '../../../src/opcodes/objects'

test('a parameter whose name speaks of objects tells which they are', () => {
  const speaking =
    /^(instance|node|pnode|snode|group|network)s?(_names?|_uuids?)?$|(on|source|remote|target|src)_(instance|node|group)/
  const silent = [...allOpcodes.values()].flatMap(({ id, params }) =>
    Object.entries(params)
      .filter(([name, { names }]) => speaking.test(name) && names === undefined)
      .map(([name]) => `${id}.${name}`),
  )
  expect(silent.sort()).toEqual([
    // Node groups that a question is about, which `visible` limits.
    'OP_CLUSTER_BALANCE.groups',
    'OP_CLUSTER_CAPACITY.groups',
    // Descriptions of instances that are not there yet.
    'OP_CLUSTER_WHAT_IF.instances',
    'OP_INSTANCE_MULTI_ALLOC.instances',
    // A subnet.
    'OP_NETWORK_ADD.network',
  ])
})

test('the objects of an opcode are those that its parameters name', () => {
  expect(objectsOf({ OP_ID: 'OP_TAGS_SET', kind: 'nodegroup', name: 'g', tags: ['x'] })).toEqual(['group/g'])
  expect(objectsOf({ OP_ID: 'OP_TAGS_SET', kind: 'cluster', name: null, tags: ['x'] })).toEqual([])
  expect(objectsOf({ OP_ID: 'OP_NODE_MIGRATE', node_name: 'n', target_node_uuid: 'u' })).toEqual(['node/n', 'node/u'])
  const visible = { groups: ['g'], nodes: ['n'], instances: ['i', 'j'] }
  expect(objectsOf({ OP_ID: 'OP_CLUSTER_CAPACITY', visible })).toEqual([
    'group/g',
    'node/n',
    'instance/i',
    'instance/j',
  ])
  expect(objectsOf({ OP_ID: 'OP_OF_TOMORROW', instance_name: 'i' })).toEqual([])
})
