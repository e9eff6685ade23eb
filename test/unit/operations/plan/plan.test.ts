// Plans say what jobs would do, and do nothing.
import { type FakeCluster, smallCluster } from '../../../support/fake-cluster'

let cluster: FakeCluster

beforeEach(() => {
  cluster = smallCluster()
  cluster.addInstance('vm1.test', 'node2.test', { admin_state: 'up' })
  cluster.answers = {
    hooks_runner: () => [],
    instance_shutdown: () => null,
    blockdev_shutdown: () => null,
    instance_list: () => ['vm1.test'],
  }
})

const shutdown = { OP_ID: 'OP_INSTANCE_SHUTDOWN', instance_name: 'vm1.test' }
const remove = { OP_ID: 'OP_INSTANCE_REMOVE', instance_name: 'vm1.test' }
const rename = { OP_ID: 'OP_INSTANCE_RENAME', instance_name: 'vm1.test', new_name: 'vm2.test' }

const instanceNow = () => {
  const [instance] = Object.values(cluster.config.instances)
  if (instance === undefined) throw new Error('the instance is gone')
  return instance
}

test('a plan tells locks, hooks, changes and what nodes would be told, and nothing happens', async () => {
  const before = cluster.config
  const [planned] = await cluster.plan(shutdown)
  expect(planned?.opcode).toMatchObject({
    possible: true,
    locks: [
      { lock: 'cluster/BGL', mode: 'shared' },
      { lock: 'instance/vm1.test', mode: 'exclusive' },
      { lock: 'node-res/node2.test', mode: 'exclusive' },
    ],
    prerequisites: [{ passed: true, node: null }],
    hooks: { path: 'instance-stop', pre: ['node1.test', 'node2.test'], post: ['node1.test', 'node2.test'] },
    changes: [{ kind: 'instance', name: 'vm1.test', before: { admin_state: 'up' }, after: { admin_state: 'down' } }],
    changes_complete: true,
    node_calls: [{ node: 'node2.test', call: 'instance_shutdown' }],
  })
  expect(cluster.config).toBe(before)
  expect(cluster.asked).toEqual([])
  expect(cluster.locks).toEqual([])
})

test('it is what the job then does', async () => {
  const [planned] = await cluster.plan(shutdown)
  await cluster.run(shutdown.OP_ID, { instance_name: 'vm1.test' })
  const { admin_state, serial_no } = instanceNow()
  expect(planned?.opcode.changes[0]?.after).toMatchObject({ admin_state, serial_no })
  expect(cluster.asked.filter(({ call }) => call !== 'hooks_runner')).toMatchObject(planned?.opcode.node_calls ?? [])
})

test('the objects that a check has read are the preconditions, with the serial numbers of now', async () => {
  const [planned] = await cluster.plan(shutdown)
  const { uuid, serial_no } = instanceNow()
  expect(planned?.read).toContainEqual({ kind: 'instance', uuid, serial_no, name: 'vm1.test' })
  expect(planned?.read.filter(({ name }) => name === 'node3.test')).toEqual([])
})

test('a prerequisite that fails is told with its reason, and ends the plan', async () => {
  const planned = await cluster.plan(rename, remove)
  expect(planned.map(({ opcode }) => [opcode.OP_ID, opcode.possible])).toEqual([['OP_INSTANCE_RENAME', false]])
  expect(planned[0]?.opcode.prerequisites.at(-1)).toMatchObject({
    passed: false,
    reason: expect.stringMatching(/vm1\.test.*marked to be up/),
    code: 'wrong_state',
  })
})

test('an opcode is planned on what the ones before it make of the cluster', async () => {
  const planned = await cluster.plan(shutdown, { ...remove, ignore_failures: false })
  expect(planned.map(({ opcode }) => opcode.changes.map(({ change, name }) => [change, name]))).toEqual([
    [['changed', 'vm1.test']],
    [
      ['removed', 'vm1.test'],
      ['changed', 'cluster.test'],
    ],
  ])
  // The first opcode changes the instance that the second reads.
  expect(planned[1]?.read.filter(({ kind }) => kind === 'instance')).toEqual([])
})

test('a step that needs a live node is named, and unknown after an order to nodes', async () => {
  const planned = await cluster.plan({ ...shutdown }, rename)
  const live = planned[1]?.opcode.prerequisites.filter(({ node }) => node === 'node2.test')
  expect(live).toMatchObject([{ what: 'Node node2.test answers instance_list', passed: null }])
  expect(planned[1]?.opcode.possible).toBe(null)
})

test('private parameters are not shown', async () => {
  const [planned] = await cluster.plan({
    ...{ OP_ID: 'OP_INSTANCE_SET_PARAMS', instance_name: 'vm1.test', beparams: { auto_balance: false } },
    osparams_private: { password: 'of the guest' },
  })
  expect(JSON.stringify(planned)).not.toContain('of the guest')
})

test('nodes start no program that the caller names, and the plan says so', async () => {
  const set = (hvparams: object) => ({ OP_ID: 'OP_INSTANCE_SET_PARAMS', instance_name: 'vm1.test', hvparams })
  cluster.answers = { ...cluster.answers, hypervisor_validate_params: () => null, instance_info: () => ({}) }
  const hvparams = { ...cluster.config.cluster.hvparams['kvm'], kvm_path: '/usr/bin/kvm' }
  cluster.config = { ...cluster.config, cluster: { ...cluster.config.cluster, hvparams: { kvm: hvparams } } }
  const planned = [
    ...(await cluster.plan(set({ acpi: false }))),
    ...(await cluster.plan(set({ kvm_path: '/tmp/mine' }))),
  ]
  const answers = planned.map(({ opcode }) => opcode.prerequisites.filter(({ what }) => what.includes('validate')))
  expect(answers).toMatchObject([
    [{ passed: true, reason: null }],
    [{ passed: null, reason: "a plan starts no program that the cluster does not use yet (kvm_path '/tmp/mine')" }],
  ])
  const requested = cluster.asked.filter(({ call }) => call === 'hypervisor_validate_params')
  expect(JSON.stringify(requested)).toContain('/usr/bin/kvm')
  expect(JSON.stringify(requested)).not.toContain('/tmp/mine')
})

test('a plan ends where only a real node has the answer, and says so, without what would only be taken back', async () => {
  const node = cluster.node('node3.test')
  cluster.config = {
    ...cluster.config,
    nodes: { ...cluster.config.nodes, [node.uuid]: { ...node, master_candidate: false } },
  }
  cluster.answers = { ...cluster.answers, version: () => 1, node_verify_light: () => ({}) }
  const [planned] = await cluster.plan({ OP_ID: 'OP_NODE_SET_PARAMS', node_name: node.name, master_candidate: true })
  expect(planned?.opcode).toMatchObject({
    possible: true,
    changes_complete: false,
    changes_note: 'What comes after this needs the real nodes: what node node3.test answers to node_crypto_tokens',
  })
  expect(planned?.opcode.node_calls.at(-1)).toEqual({ node: 'node3.test', call: 'node_crypto_tokens' })
})

test('an order whose answer does not matter to the rest leaves a plan complete', async () => {
  const [planned] = await cluster.plan({
    ...{ OP_ID: 'OP_RESTRICTED_COMMAND', command: 'list-disks', nodes: ['node2.test'], use_locking: true },
  })
  expect(planned?.opcode).toMatchObject({ possible: true, changes_complete: true, changes_note: null })
  expect(planned?.opcode.node_calls).toEqual([{ node: 'node2.test', call: 'restricted_command' }])
})

test('a mistake in a unit is no end of a plan: whoever asked hears that something is broken', async () => {
  // Our client lets no such answer through.
  const none = JSON.parse('null') as string[]
  cluster.answers = { ...cluster.answers, instance_list: () => none }
  await expect(cluster.plan(shutdown, rename)).rejects.toThrow(TypeError)
})
