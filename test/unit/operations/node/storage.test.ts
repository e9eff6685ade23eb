// Storage units of nodes are listed, changed and repaired.
import { change } from '../../../../src/config/changes'
import { type FakeCluster, smallCluster } from '../../../support/fake-cluster'

const UNIT = { name: '/srv/ganeti/file-storage', size: 1000, used: 10, free: 900, allocatable: true } as const

function fileCluster(first: 'file' | 'sharedfile' = 'file'): FakeCluster {
  const cluster = smallCluster(['node1', 'node2', 'node3'], { enabled_disk_templates: [first, 'diskless'] })
  cluster.answers.storage_list = (_node, [, , , fields]) => [
    fields.map((field) => Object.entries(UNIT).find(([name]) => name === field)?.[1]),
  ]
  return cluster
}

describe('query storage', () => {
  test('asks nodes for what only they know, and where the cluster keeps its files', async () => {
    const cluster = fileCluster()
    const op = { output_fields: ['node', 'size', 'type', 'free'], nodes: ['node2'] }
    expect(await cluster.run('OP_NODE_QUERY_STORAGE', op)).toEqual([['node2.test', 1000, 'file', 900]])
    expect(cluster.calls('storage_list')).toEqual([
      {
        node: 'node2.test',
        call: 'storage_list',
        args: ['file', [['/srv/ganeti/file-storage']], null, ['name', 'size', 'free']],
      },
    ])
    expect(cluster.locks).toContain(`node/${cluster.node('node2').uuid} shared`)
  })

  test('is about the kind of storage that the first enabled template uses', async () => {
    const cluster = fileCluster('sharedfile')
    const op = { output_fields: ['type'], nodes: ['node2'] }
    expect(await cluster.run('OP_NODE_QUERY_STORAGE', op)).toEqual([['sharedfile']])
    expect(cluster.calls('storage_list')[0]?.args[1]).toEqual([['/srv/ganeti/shared-file-storage']])
  })

  test('leaves out a node that fails, with a warning, and one that is offline, without', async () => {
    const cluster = fileCluster()
    cluster.given(change('patchNode', cluster.node('node2').uuid, { offline: true }))
    cluster.answers.storage_list = (node) => {
      if (node.name === 'node3.test') throw new Error('disk on fire')
      return [[UNIT.name]]
    }
    const rows = await cluster.run('OP_NODE_QUERY_STORAGE', { output_fields: ['node', 'name'], storage_type: 'file' })
    expect(rows).toEqual([['node1.test', UNIT.name]])
    expect(cluster.log).toEqual([" - WARNING: Can't get storage data from node node3.test: disk on fire"])
    expect(cluster.locks).toContain('node/[lockset] shared')
  })

  test.each([
    [{ output_fields: ['name', 'colour'] }, ['Unknown output fields selected: colour', 'wrong_input']],
    [
      { output_fields: ['name'], storage_type: 'lvm-pv' },
      [
        "No disk template of storage type 'lvm-vg' is enabled in this cluster. Enabled disk templates are: file,diskless",
      ],
    ],
  ])('refuses %j', async (op, args) => {
    expect(await fileCluster().failure('OP_NODE_QUERY_STORAGE', op)).toEqual(['OpPrereqError', args])
  })

  test('there is no default where nodes cannot report the storage', async () => {
    const cluster = smallCluster(['node1'], { enabled_disk_templates: ['rbd'] })
    expect(await cluster.failure('OP_NODE_QUERY_STORAGE', { output_fields: ['name'] })).toMatchObject([
      'OpPrereqError',
      { 0: expect.stringMatching(/^Storage reporting for storage type 'rados' is not supported/) },
    ])
  })
})

describe('modify and repair storage', () => {
  test('only the allocatable flag of physical volumes can change', async () => {
    const cluster = smallCluster()
    const modify = { node_name: 'node2', storage_type: 'lvm-pv', name: '/dev/sda' }
    cluster.answers.storage_modify = () => null
    await cluster.run('OP_NODE_MODIFY_STORAGE', { ...modify, changes: { allocatable: false } })
    expect(cluster.calls('storage_modify')[0]?.args).toEqual(['lvm-pv', [], '/dev/sda', { allocatable: false }])
    expect(await cluster.failure('OP_NODE_MODIFY_STORAGE', { ...modify, changes: { size: 1 } })).toEqual([
      'OpPrereqError',
      ["The following fields can not be modified for storage units of type 'lvm-pv': ['size']", 'wrong_input'],
    ])
    expect(await cluster.failure('OP_NODE_MODIFY_STORAGE', { ...modify, storage_type: 'file', changes: {} })).toEqual([
      'OpPrereqError',
      ["Storage units of type 'file' can not be modified", 'wrong_input'],
    ])
  })

  test('a volume group is not repaired while another copy of its disks is faulty', async () => {
    const cluster = smallCluster()
    cluster.addInstance('drbd1.test', 'node2', { disks_active: true }, 'node3')
    cluster.answers.blockdev_getmirrorstatus = () => [{ dev_path: '/dev/drbd0', is_degraded: true, ldisk_status: 4 }]
    cluster.answers.storage_execute = () => null
    const repair = { node_name: 'node2', storage_type: 'lvm-vg', name: 'xenvg' }
    expect(await cluster.failure('OP_REPAIR_NODE_STORAGE', repair)).toEqual([
      'OpPrereqError',
      ["Instance 'drbd1.test' has faulty disks on node 'node3.test'", 'wrong_state'],
    ])
    await cluster.run('OP_REPAIR_NODE_STORAGE', { ...repair, ignore_consistency: true })
    expect(cluster.log).toEqual([
      " - WARNING: Instance 'drbd1.test' has faulty disks on node 'node3.test'",
      "Repairing storage unit 'xenvg' on node2.test ...",
    ])
    expect(cluster.calls('storage_execute')[0]?.args).toEqual(['lvm-vg', [], 'xenvg', 'fix-consistency'])
  })
})

test('volumes come with the instance that they belong to', async () => {
  const cluster = smallCluster()
  cluster.addInstance('drbd1.test', 'node2', {}, 'node3')
  cluster.answers.node_volumes = (node) => {
    if (node.name === 'node1.test') return []
    const data = { name: 'drbd1.test.data', size: '1024.00', dev: '/dev/sdb1', vg: 'xenvg' }
    return [data, { name: 'swap', size: '512.00', dev: '/dev/sda1', vg: 'xenvg' }]
  }
  const op = { output_fields: ['node', 'phys', 'vg', 'name', 'size', 'instance'], nodes: [] }
  expect(await cluster.run('OP_NODE_QUERYVOLS', op)).toEqual([
    ['node2.test', '/dev/sda1', 'xenvg', 'swap', '512', '-'],
    ['node2.test', '/dev/sdb1', 'xenvg', 'drbd1.test.data', '1024', 'drbd1.test'],
    ['node3.test', '/dev/sda1', 'xenvg', 'swap', '512', '-'],
    ['node3.test', '/dev/sdb1', 'xenvg', 'drbd1.test.data', '1024', 'drbd1.test'],
  ])
})
