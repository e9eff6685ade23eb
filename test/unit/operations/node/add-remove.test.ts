// Nodes join the cluster and leave it, and nothing is left of one that fails to join.
import { change } from '../../../../src/config/changes'
import type { Cluster } from '../../../../src/model/config'
import { PROTOCOL_VERSION } from '../../../../src/model/constants/versions'
import { type FakeCluster, smallCluster } from '../../../support/fake-cluster'

function clusterOf(settings: Partial<Cluster> = {}): FakeCluster {
  const cluster = smallCluster(['node1', 'node2'], { candidate_pool_size: 2, ...settings })
  Object.assign(cluster.answers, {
    version: () => PROTOCOL_VERSION,
    node_verify_light: () => ({ pvlist: [{ name: '/dev/sda', vg_name: 'xenvg' }] }),
    node_verify: () => ({}),
    node_crypto_tokens: (node: { name: string }) => [['ssl', `digest of ${node.name}`]],
    node_ensure_daemon: () => true,
    node_demote_from_mc: () => null,
    node_leave_cluster: () => 'Shutdown scheduled',
    node_has_ip_address: () => true,
    etc_hosts_modify: () => true,
  } satisfies FakeCluster['answers'])
  return cluster
}

const NEW = { node_name: 'node9.test', primary_ip: '192.0.2.9' }
const certificates = (cluster: FakeCluster) => Object.values(cluster.config.cluster.candidate_certs).sort()

describe('node add', () => {
  test('a node cannot have the name of an instance or of the cluster', async () => {
    const cluster = clusterOf({ cluster_name: 'node9.test' })
    const refusal = (text: string) => ['OpPrereqError', [text, 'already_exists']]
    expect(await cluster.failure('OP_NODE_ADD', NEW)).toEqual(refusal("The cluster has the name 'node9.test'"))
    cluster.addInstance('node8.test', 'node1')
    expect(await cluster.failure('OP_NODE_ADD', { ...NEW, node_name: 'node8.test' })).toEqual(
      refusal("Instance 'node8.test' is already in the cluster"),
    )
  })

  test('a node that can be a candidate where one is missing becomes one, and nodes obey it', async () => {
    const cluster = clusterOf()
    expect(await cluster.run('OP_NODE_ADD', NEW)).toBeNull()
    expect(cluster.node('node9')).toMatchObject({
      primary_ip: '192.0.2.9',
      secondary_ip: '192.0.2.9',
      master_candidate: true,
      master_capable: true,
      vm_capable: true,
      powered: true,
      group: cluster.groupNamed('default').uuid,
    })
    expect(certificates(cluster)).toEqual(['digest of node1.test', 'digest of node9.test'])
    expect(cluster.locks).toEqual(['cluster/BGL exclusive'])
    expect(cluster.flushes).toBe(1)
    expect(cluster.log).toEqual([' - INFO: Node will be a master candidate'])
    expect(cluster.hooks('node-add', 'pre')).toMatchObject({
      nodes: ['node1.test', 'node2.test'],
      env: {
        GANETI_NODE_NAME: 'node9.test',
        GANETI_NODE_PIP: '192.0.2.9',
        GANETI_NODE_SIP: '192.0.2.9',
        GANETI_MASTER_CAPABLE: 'True',
      },
    })
    expect(cluster.hooks('node-add', 'post').nodes).toEqual(['node1.test', 'node2.test', 'node9.test'])
  })

  test('with enough candidates it is a regular node, in the group and with the parameters that were asked for', async () => {
    const cluster = clusterOf({ candidate_pool_size: 1 })
    const group = cluster.addGroup('rack2')
    await cluster.run('OP_NODE_ADD', { ...NEW, group: 'rack2', vm_capable: false, ndparams: { spindle_count: '2' } })
    expect(cluster.node('node9')).toMatchObject({
      group,
      master_candidate: false,
      vm_capable: false,
      ndparams: { spindle_count: 2 },
    })
    expect(certificates(cluster)).toEqual(['digest of node1.test'])
  })

  test.each([
    [
      'who is there',
      { node_name: 'node2.test', primary_ip: '192.0.2.2' },
      'Node node2.test is already in the configuration',
      'already_exists',
    ],
    [
      'an address that is taken',
      { ...NEW, primary_ip: '192.0.2.2' },
      'New node ip address(es) conflict with existing node node2.test',
      'resource_not_unique',
    ],
    [
      'a second address where nobody has one',
      { ...NEW, secondary_ip: '198.51.100.9' },
      'The master has no secondary ip but the new node has one',
      'wrong_input',
    ],
    ['a group that does not exist', { ...NEW, group: 'rack7' }, "Node group 'rack7' not found", 'unknown_entity'],
    [
      'a stranger as an old member',
      { ...NEW, readd: true },
      'Node node9.test is not in the configuration',
      'unknown_entity',
    ],
    [
      'the master as an old member',
      { node_name: 'node1.test', readd: true },
      'Cannot readd the master node',
      'wrong_state',
    ],
    [
      'another group for an old member',
      { node_name: 'node2.test', readd: true, group: 'default' },
      'Cannot pass a node group when a node is being readded',
      'wrong_input',
    ],
  ])('refuses %s', async (_what, op, text, code) => {
    const cluster = clusterOf()
    const before = cluster.config
    expect(await cluster.failure('OP_NODE_ADD', op)).toEqual(['OpPrereqError', [text, code]])
    expect(cluster.config).toBe(before)
  })

  test('must be told the group where there are several', async () => {
    const cluster = clusterOf()
    cluster.addGroup('rack2')
    expect(await cluster.failure('OP_NODE_ADD', NEW)).toMatchObject([
      'OpPrereqError',
      { 0: 'More than one node group exists. Target group must be specified explicitly.' },
    ])
  })

  test('refuses a node that is down, speaks another protocol, or has unusable disks', async () => {
    const cluster = clusterOf()
    cluster.answers.node_verify_light = () => ({ pvlist: [{ name: '/dev/disk:1', vg_name: 'xenvg' }] })
    expect(await cluster.failure('OP_NODE_ADD', NEW)).toEqual([
      'OpPrereqError',
      ["Checks on node PVs failed: Invalid character ':' in PV '/dev/disk:1' of VG 'xenvg'", 'environment_error'],
    ])
    cluster.answers.version = () => 2
    expect(await cluster.failure('OP_NODE_ADD', NEW)).toEqual([
      'OpPrereqError',
      [`Version mismatch master version ${PROTOCOL_VERSION}, node version 2`, 'environment_error'],
    ])
    delete cluster.answers.version
    expect(await cluster.failure('OP_NODE_ADD', NEW)).toMatchObject([
      'OpPrereqError',
      { 0: expect.stringContaining("Can't get version information from node node9.test") },
    ])
  })

  test('nothing is left of a node that fails to introduce itself', async () => {
    const cluster = clusterOf({ modify_etc_hosts: true })
    const before = cluster.config
    cluster.answers.node_verify = () => ({ nodelist: { 'node9.test': 'no route to host' } })
    expect(await cluster.failure('OP_NODE_ADD', NEW)).toEqual(['OpExecError', ['ssh/hostname verification failed']])
    expect(cluster.log).toContain('ssh/hostname verification failed (checking from node1.test): no route to host')
    cluster.answers.node_verify = () => ({})
    delete cluster.answers.node_crypto_tokens
    expect(await cluster.failure('OP_NODE_ADD', NEW)).toMatchObject(['OpExecError', {}])
    expect(cluster.config).toBe(before)
    expect(cluster.calls('etc_hosts_modify').map(({ args }) => args[0])).toEqual(['add', 'remove', 'add', 'remove'])
  })

  test('where nodes have a second address, the new one must really have its own', async () => {
    const cluster = clusterOf({ candidate_pool_size: 1 })
    cluster.given(change('patchNode', cluster.node('node1').uuid, { secondary_ip: '198.51.100.1' }))
    expect(await cluster.failure('OP_NODE_ADD', NEW)).toEqual([
      'OpPrereqError',
      ["The master has a secondary ip but the new node doesn't have one", 'wrong_input'],
    ])
    const dual = { ...NEW, secondary_ip: '198.51.100.9' }
    cluster.answers.node_has_ip_address = () => false
    expect(await cluster.failure('OP_NODE_ADD', dual)).toMatchObject([
      'OpExecError',
      { 0: expect.stringContaining("doesn't have the secondary ip you gave (198.51.100.9)") },
    ])
    cluster.answers.node_has_ip_address = () => true
    await cluster.run('OP_NODE_ADD', dual)
    expect(cluster.node('node9').secondary_ip).toBe('198.51.100.9')
  })

  test('an old member comes back without its flags', async () => {
    const cluster = clusterOf({ candidate_pool_size: 1, modify_ssh_setup: true })
    const { uuid } = cluster.node('node2')
    cluster.given(
      change('patchNode', uuid, { offline: true, powered: false, vm_capable: false }),
      change('addCandidateCert', uuid, 'digest of an older node2'),
    )
    cluster.answers.node_ssh_key_remove = () => []
    cluster.answers.node_ssh_key_add = () => []
    await cluster.run('OP_NODE_ADD', {
      node_name: 'node2.test',
      primary_ip: '192.0.2.2',
      readd: true,
      node_setup: true,
    })
    expect(cluster.node('node2')).toMatchObject({ uuid, offline: false, powered: true, vm_capable: false })
    expect(certificates(cluster)).toEqual(['digest of node1.test'])
    expect(cluster.calls('node_demote_from_mc').map(({ node }) => node)).toEqual(['node2.test'])
    expect(cluster.log).toEqual([' - INFO: Readding a node, the offline/drained flags were reset'])
    expect(cluster.calls('node_ssh_key_remove')[0]?.args.slice(4)).toEqual([true, true, false, true, true])
    expect(cluster.calls('node_ssh_key_add')[0]?.args.slice(3)).toEqual([false, true, true])
  })

  test('the master learns where the node is before it is added', async () => {
    const cluster = clusterOf({ modify_etc_hosts: true })
    await cluster.run('OP_NODE_ADD', NEW)
    expect(cluster.calls('etc_hosts_modify')).toEqual([
      { node: 'node1.test', call: 'etc_hosts_modify', args: ['add', 'node9.test', '192.0.2.9'] },
    ])
  })
})

describe('node remove', () => {
  test('a candidate that leaves is replaced in the same step, and is told last', async () => {
    const cluster = clusterOf({ candidate_pool_size: 2, modify_etc_hosts: true })
    const { uuid } = cluster.node('node2')
    cluster.addNode('node3.test', '192.0.2.3')
    cluster.given(
      change('patchNode', uuid, { master_candidate: true }),
      change('addCandidateCert', uuid, 'digest of node2.test'),
    )
    expect(await cluster.run('OP_NODE_REMOVE', { node_name: 'node2' })).toBeNull()
    expect(
      Object.values(cluster.config.nodes)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(['node1.test', 'node3.test'])
    expect(cluster.node('node3').master_candidate).toBe(true)
    expect(certificates(cluster)).toEqual(['digest of node1.test', 'digest of node3.test'])
    expect(cluster.calls('node_leave_cluster').map(({ node }) => node)).toEqual(['node2.test'])
    expect(cluster.calls('etc_hosts_modify')[0]?.args).toEqual(['remove', 'node2.test', null])
    expect(cluster.hooks('node-remove', 'pre').nodes).toEqual(['node1.test', 'node3.test'])
    // The leaving node runs its hooks while it still can.
    const order = cluster.asked.filter(({ node }) => node === 'node2.test').map(({ call }) => call)
    expect(order).toEqual(['hooks_runner', 'node_leave_cluster'])
    expect(cluster.hooks('node-remove', 'post').nodes).toEqual(['node1.test', 'node2.test', 'node3.test'])
  })

  test('a node that does not answer is removed all the same', async () => {
    const cluster = clusterOf({ candidate_pool_size: 1 })
    cluster.given(change('patchNode', cluster.node('node2').uuid, { offline: true }))
    cluster.answers.node_leave_cluster = () => {
      throw new Error('no route to host')
    }
    await cluster.run('OP_NODE_REMOVE', { node_name: 'node2' })
    expect(Object.keys(cluster.config.nodes)).toHaveLength(1)
    expect(cluster.log).toEqual([
      ' - WARNING: Errors encountered on the remote node while leaving the cluster: no route to host',
    ])
  })

  test('neither the master nor a node with instances', async () => {
    const cluster = clusterOf()
    cluster.addNode('node3.test', '192.0.2.3')
    cluster.addInstance('drbd1.test', 'node2', {}, 'node3')
    expect(await cluster.failure('OP_NODE_REMOVE', { node_name: 'node1' })).toEqual([
      'OpPrereqError',
      ['Node is the master node, failover to another node is required', 'wrong_input'],
    ])
    expect(await cluster.failure('OP_NODE_REMOVE', { node_name: 'node3' })).toEqual([
      'OpPrereqError',
      ['Instance drbd1.test is still running on the node, please remove first', 'wrong_input'],
    ])
  })
})
