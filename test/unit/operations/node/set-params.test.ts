// The roles of a node change, and the certificates that nodes obey change with them.
import { change } from '../../../../src/config/changes'
import type { Cluster } from '../../../../src/model/config'
import { type FakeCluster, smallCluster } from '../../../support/fake-cluster'

/** node1 is the master, node2 a candidate, node3 a regular node, as far as the pool allows. */
function clusterOf(settings: Partial<Cluster> = {}): FakeCluster {
  const cluster = smallCluster(['node1', 'node2', 'node3'], { candidate_pool_size: 2, ...settings })
  const node2 = cluster.node('node2').uuid
  cluster.given(
    change('patchNode', node2, { master_candidate: true }),
    change('addCandidateCert', node2, 'digest of node2.test'),
  )
  cluster.answers.node_crypto_tokens = (node) => [['ssl', `digest of ${node.name}`]]
  cluster.answers.node_demote_from_mc = () => null
  cluster.answers.node_ensure_daemon = () => true
  cluster.answers.version = () => 3010000
  cluster.answers.node_has_ip_address = () => true
  return cluster
}

const set = (cluster: FakeCluster, node: string, params: object) =>
  cluster.run('OP_NODE_SET_PARAMS', { node_name: node, ...params })
const refused = (cluster: FakeCluster, node: string, params: object) =>
  cluster.failure('OP_NODE_SET_PARAMS', { node_name: node, ...params })
const roles = (cluster: FakeCluster) =>
  ['node1', 'node2', 'node3'].map((name) => {
    const { master_candidate, drained, offline } = cluster.node(name)
    return [master_candidate && 'C', drained && 'D', offline && 'O'].filter((flag) => flag !== false).join('') || 'R'
  })

describe('roles', () => {
  test('a promoted node is obeyed from the moment it is a candidate', async () => {
    const cluster = clusterOf({ candidate_pool_size: 3 })
    const result = await set(cluster, 'node3', { master_candidate: true })
    expect(result).toEqual([['master_candidate', 'True']])
    expect(roles(cluster)).toEqual(['C', 'C', 'C'])
    expect(cluster.config.cluster.candidate_certs[cluster.node('node3').uuid]).toBe('digest of node3.test')
    const { nodes, env } = cluster.hooks('node-modify', 'pre')
    expect(nodes).toEqual(['node1.test', 'node3.test'])
    expect(env).toMatchObject({
      GANETI_OP_TARGET: 'node3.test',
      GANETI_MASTER_CANDIDATE: 'True',
      GANETI_OFFLINE: 'None',
    })
  })

  test.each([
    ['comes back', { offline: true }, { offline: false }],
    ['is not drained any more', { drained: true }, { drained: false }],
    ['stays offline', { offline: true, master_capable: false }, { master_capable: true }],
  ] as const)('a node that may not be master never becomes a candidate: it %s', async (_what, input, requested) => {
    const cluster = clusterOf({ candidate_pool_size: 3 })
    cluster.given(change('patchNode', cluster.node('node3').uuid, { master_capable: false, ...input }))
    await set(cluster, 'node3', requested)
    expect(cluster.node('node3').master_candidate).toBe(false)
    expect(cluster.log.join()).not.toContain('Auto-promoting')
  })

  test('a node does not become a candidate while it loses the right to be master', async () => {
    const cluster = clusterOf({ candidate_pool_size: 3 })
    expect(await refused(cluster, 'node3', { master_capable: false, master_candidate: true })).toEqual([
      'OpPrereqError',
      ['Node node3.test is not master capable, cannot make it a master candidate', 'wrong_state'],
    ])
  })

  test('a node that does not tell its certificate stays what it was', async () => {
    const cluster = clusterOf({ candidate_pool_size: 3 })
    delete cluster.answers.node_crypto_tokens
    const uuid = cluster.node('node3').uuid
    expect(await refused(cluster, 'node3', { master_candidate: true })).toEqual([
      'OpExecError',
      [`Could not retrieve the node's (uuid ${uuid}) SSL digest: no answer to node_crypto_tokens`],
    ])
    expect(roles(cluster)).toEqual(['C', 'C', 'R'])
  })

  test('a demoted node is told, and no longer obeyed', async () => {
    const cluster = clusterOf()
    const result = await set(cluster, 'node2', { drained: true, auto_promote: true })
    expect(result).toEqual([
      ['master_candidate', 'False'],
      ['drained', 'True'],
    ])
    expect(roles(cluster)).toEqual(['C', 'D', 'C'])
    expect(cluster.calls('node_demote_from_mc').map(({ node }) => node)).toEqual(['node2.test'])
    expect(Object.values(cluster.config.cluster.candidate_certs).sort()).toEqual([
      'digest of node1.test',
      'digest of node3.test',
    ])
    expect(cluster.locks).toContain('node/[lockset] exclusive')
    expect(cluster.log).toContain(' - INFO: Promoted nodes to master candidate role: node3.test')
  })

  test('an offline node is not called', async () => {
    const cluster = clusterOf({ candidate_pool_size: 1 })
    expect(await set(cluster, 'node2', { offline: true })).toEqual([
      ['master_candidate', 'False'],
      ['offline', 'True'],
    ])
    expect(cluster.asked.filter(({ node, call }) => node === 'node2.test' && call !== 'hooks_runner')).toEqual([])
  })

  test('no candidate goes while too few remain', async () => {
    const cluster = clusterOf()
    expect(await refused(cluster, 'node2', { offline: true })).toEqual([
      'OpPrereqError',
      [
        'Not enough master candidates, please pass auto promote option to allow promotion (--auto-promote or RAPI auto_promote=True)',
        'wrong_state',
      ],
    ])
  })

  test('a node that returns becomes a candidate when one is missing', async () => {
    const cluster = clusterOf()
    cluster.given(change('patchNode', cluster.node('node2').uuid, { master_candidate: false, drained: true }))
    const result = await set(cluster, 'node2', { drained: false })
    expect(result).toEqual([
      ['master_candidate', 'True'],
      ['drained', 'False'],
    ])
    expect(cluster.log).toContain(' - INFO: Auto-promoting node to master candidate')
  })

  test('an offline node must be up before it returns', async () => {
    const cluster = clusterOf({ candidate_pool_size: 1 })
    cluster.given(change('patchNode', cluster.node('node3').uuid, { offline: true }))
    cluster.answers.version = () => {
      throw new Error('connection refused')
    }
    expect(await refused(cluster, 'node3', { offline: false })).toEqual([
      'OpPrereqError',
      ['Node node3.test is being de-offlined but fails to report its version: connection refused', 'wrong_state'],
    ])
    cluster.answers.version = () => 3010000
    expect(await set(cluster, 'node3', { offline: false })).toEqual([['offline', 'False']])
    expect(cluster.log[0]).toContain('Transitioning node from offline to online state without using re-add')
  })

  test('a flag that is not set can be unset in vain', async () => {
    const cluster = clusterOf()
    expect(await set(cluster, 'node3', { offline: false })).toEqual([])
    expect(cluster.log).toEqual([' - INFO: Ignoring request to unset flag offline, already unset'])
  })

  test('a node that may no longer be master is no candidate either', async () => {
    const cluster = clusterOf({ candidate_pool_size: 1 })
    expect(await set(cluster, 'node2', { master_capable: false })).toEqual([
      ['master_capable', 'False'],
      ['master_candidate', 'False'],
    ])
    expect(cluster.node('node2')).toMatchObject({ master_capable: false, master_candidate: false })
    expect(await refused(cluster, 'node2', { master_candidate: true })).toEqual([
      'OpPrereqError',
      ['Node node2.test is not master capable, cannot make it a master candidate', 'wrong_state'],
    ])
  })

  test('the SSH keys follow where the cluster keeps them', async () => {
    const cluster = clusterOf({ candidate_pool_size: 1, modify_ssh_setup: true })
    cluster.answers.node_ssh_key_remove = () => [['node3.test', 'no route']]
    await set(cluster, 'node2', { master_candidate: false })
    const names = ['node1.test', 'node2.test', 'node3.test']
    const [call] = cluster.calls('node_ssh_key_remove')
    const { uuid } = cluster.node('node2')
    expect(call?.node).toBe('node1.test')
    expect(call?.args.slice(0, 3)).toEqual([uuid, 'node2.test', [cluster.node('node1').uuid]])
    expect([...(call?.args[3] as string[])].sort()).toEqual(names)
    expect(call?.args.slice(4)).toEqual([true, false, false, false, false])
    expect(cluster.log).toContain('node3.test: no route')
  })
})

test('the daemon of KVM guests is for nodes that may have some', async () => {
  const cluster = clusterOf({ enabled_hypervisors: ['kvm'], enabled_user_shutdown: true })
  await set(cluster, 'node2', { vm_capable: false })
  await set(cluster, 'node2', { vm_capable: true })
  expect(cluster.calls('node_ensure_daemon').map(({ args }) => args)).toEqual([
    ['ganeti-kvmd', false],
    ['ganeti-kvmd', true],
  ])
})

test('a node that may host instances now gets the files of hypervisors', async () => {
  const cluster = clusterOf({ enabled_hypervisors: ['kvm'] })
  cluster.answers.gantry_distributed_read = () => ({ base64: '', owner: 'root', group: 'root', mode: 0o755 })
  await set(cluster, 'node2', { vm_capable: false })
  expect(cluster.calls('upload_file')).toEqual([])
  await set(cluster, 'node2', { vm_capable: true })
  expect(cluster.calls('upload_file')).toMatchObject([{ node: 'node2.test', args: [{ mode: 0o755 }] }])
})

describe('refusals', () => {
  test.each([
    ['nothing to change', 'node2', {}, 'Please pass at least one modification', 'wrong_input'],
    [
      'two roles',
      'node2',
      { offline: true, drained: true },
      "Can't set the node into more than one state at the same time",
      'wrong_input',
    ],
    [
      'a role for the master',
      'node1',
      { offline: true },
      'The master role can be changed only via master-failover',
      'wrong_input',
    ],
    ['an incapable master', 'node1', { master_capable: false }, 'Master must remain master capable', 'wrong_state'],
    [
      'no instances on a node that has some',
      'node3',
      { vm_capable: false },
      'Node node3.test hosts instances, cannot unset the vm_capable flag',
      'wrong_state',
    ],
    [
      'the power of a node without out-of-band commands',
      'node2',
      { powered: false },
      'Unable to change powered state for node node2.test as it does not support out-of-band handling',
      'wrong_state',
    ],
    [
      'parameters of whole groups',
      'node2',
      { ndparams: { exclusive_storage: true } },
      'The following node parameters are global and cannot be customized at node level, please modify them at cluster or group level: exclusive_storage',
      'wrong_input',
    ],
    [
      'a wrong address',
      'node2',
      { secondary_ip: 'here' },
      'Secondary IP (here) needs to be a valid IPv4 address',
      'wrong_input',
    ],
    [
      'a second address where nodes have one',
      'node2',
      { secondary_ip: '198.51.100.2' },
      'Changing the secondary ip on a single-homed cluster requires the --force option to be passed, and the target node to be the master',
      'wrong_input',
    ],
  ])('%s', async (_what, node, params, text, code) => {
    const cluster = clusterOf({ candidate_pool_size: 1 })
    cluster.addInstance('inst1.test', 'node2', {}, 'node3')
    const before = cluster.config
    expect(await refused(cluster, node, params)).toEqual(['OpPrereqError', [text, code]])
    expect(cluster.config).toBe(before)
  })
})

test('node parameters are coerced, and one goes back to its default', async () => {
  const cluster = clusterOf()
  await set(cluster, 'node3', { ndparams: { spindle_count: '4', ssh_port: 2222 } })
  expect(cluster.node('node3').ndparams).toEqual({ spindle_count: 4, ssh_port: 2222 })
  await set(cluster, 'node3', { ndparams: { spindle_count: 'default' } })
  expect(cluster.node('node3').ndparams).toEqual({ ssh_port: 2222 })
})

test('the power state is kept where out-of-band commands work, and an off node cannot return', async () => {
  const cluster = clusterOf({ candidate_pool_size: 1 })
  const { uuid } = cluster.node('node3')
  cluster.given(change('patchNode', uuid, { offline: true, ndparams: { oob_program: '/usr/bin/oob' } }))
  await set(cluster, 'node3', { powered: false })
  expect(cluster.node('node3').powered).toBe(false)
  expect(await refused(cluster, 'node3', { offline: false })).toEqual([
    'OpPrereqError',
    ['Node node3.test needs to be turned on before its offline status can be reset', 'wrong_state'],
  ])
  await set(cluster, 'node3', { offline: false, powered: true })
  expect(cluster.node('node3')).toMatchObject({ offline: false, powered: true })
})

describe('the second address', () => {
  function dualHomed(): FakeCluster {
    const cluster = clusterOf({ candidate_pool_size: 1 })
    for (const name of ['node1', 'node2', 'node3']) {
      const { uuid, primary_ip } = cluster.node(name)
      cluster.given(change('patchNode', uuid, { secondary_ip: primary_ip.replace('192.0.2', '198.51.100') }))
    }
    return cluster
  }

  test('changes when the node has it and answers there', async () => {
    const cluster = dualHomed()
    expect(await set(cluster, 'node2', { secondary_ip: '198.51.100.22' })).toEqual([['secondary_ip', '198.51.100.22']])
    expect(cluster.node('node2').secondary_ip).toBe('198.51.100.22')
    cluster.answers.node_has_ip_address = () => false
    expect(await refused(cluster, 'node2', { secondary_ip: '198.51.100.23' })).toEqual([
      'OpPrereqError',
      [
        "Node claims it doesn't have the secondary ip you gave (198.51.100.23), please fix and re-run this command",
        'environment_error',
      ],
    ])
  })

  test('stays while a mirrored instance that uses it is to run', async () => {
    const cluster = dualHomed()
    cluster.addInstance('inst1.test', 'node2', { admin_state: 'up', disks_active: true }, 'node3')
    expect(await refused(cluster, 'node3', { secondary_ip: '198.51.100.33' })).toEqual([
      'OpPrereqError',
      ["Instance 'inst1.test' is marked to be up, cannot change secondary ip", 'wrong_state'],
    ])
    expect(cluster.locks).toContain('instance/inst1.test shared')
  })

  test('the master goes first when all nodes get one, and by force', async () => {
    const cluster = clusterOf({ candidate_pool_size: 1 })
    await set(cluster, 'node1', { secondary_ip: '198.51.100.1', force: true })
    expect(cluster.log[0]).toContain('Transitioning from single-homed to multi-homed cluster')
    expect(await refused(cluster, 'node1', { secondary_ip: '192.0.2.1' })).toMatchObject([
      'OpPrereqError',
      { 0: expect.stringContaining('Cannot set the secondary IP to be the same as the primary IP') },
    ])
  })
})
