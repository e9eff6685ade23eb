// A node is emptied by jobs, or the reasons are named.
import { type FakeCluster, smallCluster } from '../../../support/fake-cluster'

/** `drbd1` and `drbd2` on node2 with their halves on node3 and node4, `shared1` on node2 with nothing of its own. */
function evacuationCluster(): FakeCluster {
  const cluster = smallCluster(['node1', 'node2', 'node3', 'node4'])
  cluster.addInstance('drbd1.test', 'node2', {}, 'node3')
  cluster.addInstance('drbd2.test', 'node2', {}, 'node4')
  cluster.addInstance('shared1.test', 'node2')
  const memory = { memory_total: 16384, memory_free: 12288, memory_dom0: 1024 }
  const cpus = { cpu_total: 8, cpu_nodes: 1, cpu_sockets: 1, cpu_dom0: 1 }
  const storage = { type: 'lvm-vg', name: 'xenvg', storage_free: 50_000, storage_size: 60_000 }
  cluster.answers = {
    ...cluster.answers,
    node_info: () => ['boot', [storage], [{ ...memory, ...cpus }]],
    all_instances_info: () => ({}),
  }
  return cluster
}

const evacuate = { node_name: 'node2', mode: 'primary-only' }

describe('node evacuate', () => {
  test('primary instances move: mirrored ones to their other half, the others where the allocator says', async () => {
    const cluster = evacuationCluster()
    const result = await cluster.run('OP_NODE_EVACUATE', { ...evacuate, iallocator: 'hail' })
    expect(result).toEqual({
      jobs: [
        [true, 100],
        [true, 101],
        [true, 102],
      ],
    })
    const common = { OP_ID: 'OP_INSTANCE_MIGRATE', allow_failover: true }
    expect(cluster.submitted).toMatchObject([
      [{ ...common, instance_name: 'drbd1.test' }],
      [{ ...common, instance_name: 'drbd2.test' }],
      [{ ...common, instance_name: 'shared1.test', target_node: expect.stringMatching(/^node[134]\.test$/) }],
    ])
    expect(cluster.submitted[0]?.[0]).not.toHaveProperty('target_node')
    expect(cluster.log).toEqual([
      " - INFO: Evacuating instances from node 'node2.test': drbd1.test, drbd2.test, shared1.test",
      expect.stringMatching(
        /^ - INFO: Instances to be moved: drbd1\.test \(to node3\.test, node2\.test\), drbd2\.test .*, shared1\.test \(to node/,
      ),
    ])
    expect(cluster.locks).toContain('instance/drbd1.test shared')
    expect(cluster.locks).toContain(`nodegroup/${cluster.groupNamed('default').uuid} shared`)
  })

  test('secondary instances get their other half elsewhere', async () => {
    const cluster = evacuationCluster()
    await cluster.run('OP_NODE_EVACUATE', { node_name: 'node3', mode: 'secondary-only', remote_node: 'node4' })
    expect(cluster.submitted).toMatchObject([
      [
        {
          OP_ID: 'OP_INSTANCE_REPLACE_DISKS',
          instance_name: 'drbd1.test',
          mode: 'replace_new_secondary',
          remote_node: 'node4.test',
          early_release: false,
        },
      ],
    ])
  })

  test('everything at once: what runs there fails over, and no mirror is left there', async () => {
    const cluster = evacuationCluster()
    cluster.addInstance('drbd3.test', 'node1', {}, 'node2')
    await cluster.run('OP_NODE_EVACUATE', { node_name: 'node2', mode: 'all', early_release: true })
    const migrate = (instance_name: string) => ({ OP_ID: 'OP_INSTANCE_MIGRATE', instance_name })
    const replace = (instance_name: string, nodes: RegExp) => ({
      OP_ID: 'OP_INSTANCE_REPLACE_DISKS',
      instance_name,
      early_release: true,
      remote_node: expect.stringMatching(nodes),
    })
    expect(cluster.submitted).toMatchObject([
      [migrate('drbd1.test'), replace('drbd1.test', /^node[14]\.test$/)],
      [migrate('drbd2.test'), replace('drbd2.test', /^node[13]\.test$/)],
      [migrate('shared1.test')],
      [replace('drbd3.test', /^node[34]\.test$/)],
    ])
  })

  test('an instance that fits nowhere is named with the reason of every node, and nothing is submitted', async () => {
    const cluster = evacuationCluster()
    cluster.answers = { ...cluster.answers, node_info: () => ['boot', [], [null]] }
    expect(await cluster.failure('OP_NODE_EVACUATE', evacuate)).toEqual([
      'OpExecError',
      [
        'Unable to evacuate instances drbd1.test (no node fits: 1 did not answer), drbd2.test (no node fits: 1 did not answer), shared1.test (no node fits: 3 did not answer)',
      ],
    ])
    expect(cluster.submitted).toEqual([])
  })

  test('what is only reserved there goes, too, by its record alone', async () => {
    const cluster = evacuationCluster()
    const reserved = { forthcoming: true, disks_active: false } as const
    cluster.addInstance('reserved1.test', 'node2', reserved, 'node3')
    cluster.addInstance('reserved2.test', 'node1', reserved, 'node2')
    await cluster.run('OP_NODE_EVACUATE', { node_name: 'node2', mode: 'all' })
    const jobs = cluster.submitted.filter(([op]) => String(op?.['instance_name']).startsWith('reserved'))
    const replace = { OP_ID: 'OP_INSTANCE_REPLACE_DISKS', mode: 'replace_new_secondary' }
    expect(jobs).toMatchObject([
      [{ OP_ID: 'OP_INSTANCE_FAILOVER', instance_name: 'reserved1.test' }, replace],
      [{ ...replace, instance_name: 'reserved2.test' }],
    ])
  })

  test('an empty node needs no jobs', async () => {
    const cluster = evacuationCluster()
    expect(await cluster.run('OP_NODE_EVACUATE', { node_name: 'node1', mode: 'primary-only' })).toEqual({ jobs: [] })
    expect(cluster.log).toEqual([" - INFO: No instances to evacuate from node 'node1.test'"])
  })

  test('all or nothing: an instance that cannot leave stops it', async () => {
    const cluster = evacuationCluster()
    const { uuid } = cluster.addInstance('local1.test', 'node2')
    cluster.addPlainDisk(uuid, 'node2')
    expect(await cluster.failure('OP_NODE_EVACUATE', evacuate)).toEqual([
      'OpExecError',
      ['Unable to evacuate instances local1.test (its disk template plain does not allow it)'],
    ])
    expect(cluster.submitted).toEqual([])
  })

  test.each([
    [
      'itself as the target',
      { node_name: 'node3', mode: 'secondary-only', remote_node: 'node3' },
      'Can not use evacuated node as a new secondary node',
    ],
    [
      'a target for primaries',
      { ...evacuate, remote_node: 'node3' },
      'Without the use of an iallocator only secondary instances can be evacuated',
    ],
    [
      'a target that is the primary',
      { node_name: 'node3', mode: 'secondary-only', remote_node: 'node2' },
      'Node node2.test is the primary node of instance drbd1.test, cannot use it as secondary',
    ],
    [
      'a target and an allocator',
      { node_name: 'node3', mode: 'secondary-only', remote_node: 'node4', iallocator: 'hail' },
      'Do not specify both, iallocator and node',
    ],
  ])('refuses %s', async (_what, op, text) => {
    expect(await evacuationCluster().failure('OP_NODE_EVACUATE', op)).toEqual(['OpPrereqError', [text, 'wrong_input']])
  })

  test('needs an allocator from somewhere', async () => {
    const cluster = smallCluster(['node1', 'node2'], { default_iallocator: '' })
    expect(await cluster.failure('OP_NODE_EVACUATE', evacuate)).toMatchObject([
      'OpPrereqError',
      { 0: expect.stringContaining('No iallocator or node given and no cluster-wide default iallocator found') },
    ])
  })
})
