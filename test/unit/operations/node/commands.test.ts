// Opcodes that run something on a node: power, restricted and repair commands.
import { change } from '../../../../src/config/changes'
import { type FakeCluster, smallCluster } from '../../../support/fake-cluster'

describe('powercycle', () => {
  test('resets the node without any lock but the shared big one', async () => {
    const cluster = smallCluster()
    cluster.answers.node_powercycle = () => 'Reboot scheduled in 5 seconds'
    expect(await cluster.run('OP_NODE_POWERCYCLE', { node_name: 'node2' })).toBe('Reboot scheduled in 5 seconds')
    expect(cluster.locks).toEqual(['cluster/BGL shared'])
    expect(cluster.calls('node_powercycle')[0]).toMatchObject({ node: 'node2.test' })
  })

  test('the master only by force', async () => {
    const cluster = smallCluster()
    cluster.answers.node_powercycle = () => 'ok'
    expect(await cluster.failure('OP_NODE_POWERCYCLE', { node_name: 'node1' })).toEqual([
      'OpPrereqError',
      ['The node is the master and the force parameter was not set', 'wrong_input'],
    ])
    expect(await cluster.run('OP_NODE_POWERCYCLE', { node_name: 'node1', force: true })).toBe('ok')
  })
})

test('a restricted command answers for each node in the order asked', async () => {
  const cluster = smallCluster()
  cluster.answers.restricted_command = (node) => {
    if (node.name === 'node2.test') throw new Error('not allowed')
    return `load of ${node.name}`
  }
  const op = { nodes: ['node3', 'node2'], command: 'load' }
  expect(await cluster.run('OP_RESTRICTED_COMMAND', op)).toEqual([
    [true, 'load of node3.test'],
    [false, "Command 'load' on node 'node2.test' failed: not allowed"],
  ])
})

test('a repair command runs on its node, with all that it is to read, and fails with its reason', async () => {
  const cluster = smallCluster()
  cluster.answers.repair_command = () => 'mended'
  const op = { node_name: 'node2', command: 'mend', input: '{"status":"live-repair"}' }
  expect(await cluster.run('OP_REPAIR_COMMAND', op)).toBe('mended')
  expect(cluster.calls('repair_command')).toMatchObject([
    { node: 'node2.test', args: ['mend', '{"status":"live-repair"}'] },
  ])
  cluster.answers.repair_command = () => {
    throw new Error('see the log')
  }
  expect(await cluster.failure('OP_REPAIR_COMMAND', op)).toEqual([
    'OpExecError',
    ["Repair command 'mend' on node 'node2.test' failed: see the log"],
  ])
})

describe('out-of-band commands', () => {
  function oobCluster(): FakeCluster {
    const cluster = smallCluster()
    cluster.given(
      change('patchNodeGroup', cluster.groupNamed('default').uuid, { ndparams: { oob_program: '/bin/oob' } }),
    )
    cluster.answers.run_oob = () => null
    return cluster
  }

  test('run on the master, for the other nodes, and leave the power state as it is now', async () => {
    const cluster = oobCluster()
    for (const name of ['node2', 'node3'])
      cluster.given(change('patchNode', cluster.node(name).uuid, { offline: true }))
    expect(await cluster.run('OP_OOB_COMMAND', { command: 'power-off' })).toEqual([
      [
        [0, 'node2.test'],
        [0, null],
      ],
      [
        [0, 'node3.test'],
        [0, null],
      ],
    ])
    expect(cluster.calls('run_oob').map(({ node, args }) => [node, ...args.slice(1)])).toEqual([
      ['node1.test', 'power-off', 'node2.test', 60],
      ['node1.test', 'power-off', 'node3.test', 60],
    ])
    expect(cluster.node('node2').powered).toBe(false)
    await cluster.run('OP_OOB_COMMAND', { command: 'power-on', node_names: ['node2'] })
    expect(cluster.node('node2').powered).toBe(true)
  })

  test('a node that is in use or master is not switched off', async () => {
    const cluster = oobCluster()
    expect(await cluster.failure('OP_OOB_COMMAND', { command: 'power-off', node_names: ['node2'] })).toEqual([
      'OpPrereqError',
      ['Cannot power off node node2.test because it is not marked offline', 'wrong_state'],
    ])
    expect(await cluster.failure('OP_OOB_COMMAND', { command: 'power-cycle', node_names: ['node1'] })).toEqual([
      'OpPrereqError',
      [
        "Operating on the master node node1.test is not allowed for power-cycle; run '/bin/oob power-cycle node1.test' if you want to operate on the master regardless",
        'wrong_input',
      ],
    ])
  })

  test('nodes without a program are unavailable, and answers that make no sense are no data', async () => {
    const cluster = oobCluster()
    cluster.given(change('patchNode', cluster.node('node1').uuid, { ndparams: { oob_program: '' } }))
    cluster.answers.run_oob = (_master, [, , node]) =>
      node === 'node2.test' ? [['fan', 'CRITICAL']] : [['fan', 'broken']]
    expect(await cluster.run('OP_OOB_COMMAND', { command: 'health' })).toEqual([
      [
        [0, 'node1.test'],
        [3, null],
      ],
      [
        [0, 'node2.test'],
        [0, [['fan', 'CRITICAL']]],
      ],
      [
        [0, 'node3.test'],
        [2, null],
      ],
    ])
    expect(cluster.log).toEqual([
      " - WARNING: Item 'fan' on node 'node2.test' has status 'CRITICAL'",
      " - WARNING: Payload returned by node 'node3.test' is not valid: Check of out-of-band payload failed due to health item 'fan' has invalid status 'broken'",
    ])
  })
})

test.each([
  ['OP_OOB_COMMAND', { command: 'health', node_names: ['node2', 'node3'] }],
  ['OP_RESTRICTED_COMMAND', { command: 'uptime', nodes: ['node2', 'node3'] }],
  ['OP_GROUP_ASSIGN_NODES', { group_name: 'default', nodes: ['node2', 'node3'] }],
])('%s takes the UUIDs of its nodes at their word', async (opcode, params) => {
  const cluster = smallCluster()
  cluster.answers.restricted_command = () => 'up'
  const [first, second] = [cluster.node('node2').uuid, cluster.node('node3').uuid]
  await cluster.run(opcode, { ...params, node_uuids: [first, second] })
  expect(await cluster.failure(opcode, { ...params, node_uuids: [second, first] })).toEqual([
    'OpPrereqError',
    [expect.stringContaining(`The node 'node2' has UUID ${first}`), 'resource_not_unique'],
  ])
  expect(await cluster.failure(opcode, { ...params, node_uuids: [first] })).toEqual([
    'OpPrereqError',
    ['There are 1 UUIDs of nodes for 2 names; give one for each name, or none', 'wrong_input'],
  ])
})

test('node migrate hands on which node the target was', async () => {
  const cluster = smallCluster()
  cluster.addInstance('inst1.test', 'node2', {}, 'node3')
  const target = { target_node: 'node3', target_node_uuid: cluster.node('node3').uuid }
  await cluster.run('OP_NODE_MIGRATE', { node_name: 'node2', ...target })
  expect(cluster.submitted[0]).toMatchObject([target])
})

test('node migrate submits one job for each primary instance', async () => {
  const cluster = smallCluster()
  cluster.addInstance('inst10.test', 'node2', {}, 'node3')
  cluster.addInstance('inst9.test', 'node2', {}, 'node3')
  cluster.addInstance('other.test', 'node3', {}, 'node2')
  const result = await cluster.run('OP_NODE_MIGRATE', { node_name: 'node2', mode: 'live' })
  expect(result).toEqual({
    jobs: [
      [true, 100],
      [true, 101],
    ],
  })
  expect(cluster.submitted.map(([op]) => op)).toMatchObject([
    { OP_ID: 'OP_INSTANCE_MIGRATE', instance_name: 'inst9.test', mode: 'live', allow_runtime_changes: true },
    { OP_ID: 'OP_INSTANCE_MIGRATE', instance_name: 'inst10.test' },
  ])
  expect(cluster.submitted[0]?.[0]).not.toHaveProperty('target_node')
  expect(cluster.hooks('node-migrate', 'pre')).toMatchObject({
    nodes: ['node1.test'],
    env: { GANETI_NODE_NAME: 'node2.test', GANETI_ALLOW_RUNTIME_CHANGES: 'True' },
  })
})
