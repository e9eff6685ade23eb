// Opcodes that only think: balances and capacities, with our allocator and with scripts.
import { change } from '../../../../src/config/changes'
import type { Capacity } from '../../../../src/model/allocation'
import type { PlannedBalance } from '../../../../src/rpc/luxi/allocation'
import type { NodeInfo } from '../../../../src/rpc/node/dicts'
import { type FakeCluster, smallCluster } from '../../../support/fake-cluster'

let cluster: FakeCluster
/** The question that the script got, and its answer. */
let requested: { request: Record<string, unknown> }[]
let says: unknown

beforeEach(() => {
  requested = []
  cluster = smallCluster(['node1', 'node2'], {
    default_iallocator: 'mine',
    enabled_disk_templates: ['rbd', 'drbd'],
    enabled_hypervisors: ['fake'],
  })
  cluster.addGroup('far')
  cluster.addNode('far1.test', '192.0.2.100', { group: cluster.groupNamed('far').uuid })
  for (const name of ['web.test', 'db.test'])
    cluster.addRbdDisk(cluster.addInstance(name, 'node2', { admin_state: 'up' }).uuid)
  const hypervisor = { memory_total: 8192, memory_free: 4096, memory_dom0: 512, cpu_total: 8, cpu_nodes: 1, cpu_sockets: 1, cpu_dom0: 1 } // prettier-ignore
  cluster.answers = {
    ...cluster.answers,
    node_info: (): NodeInfo => ['boot', [], [hypervisor]],
    all_instances_info: () => ({}),
    iallocator_runner: (_node, [, input]) => {
      requested.push(JSON.parse(input) as { request: Record<string, unknown> })
      return JSON.stringify(says)
    },
  }
})

const lists = (list: Readonly<Record<string, readonly string[]>>) =>
  cluster.given(...Object.entries(list).map(([kind, names]) => change('setGantry', 'allocators', kind, names)))
const success = (result: unknown) => ({ success: true, info: 'well done', result })
const balance = async (params = {}) => (await cluster.run('OP_CLUSTER_BALANCE', params)) as PlannedBalance
const capacity = async (params = {}) => (await cluster.run('OP_CLUSTER_CAPACITY', { spec, ...params })) as Capacity
const spec = { disk_template: 'rbd', memory_mib: 1024, vcpus: 1, disks_mib: [1024] }

test('the built-in allocator balances, whatever the default allocator of other questions is', async () => {
  const { plan, steps, ops, preconditions, groups } = await balance()
  expect([plan, steps.length, groups.map(({ group }) => group).sort()]).toEqual(['job-7-0', 1, ['default', 'far']])
  expect(ops).toMatchObject([{ OP_ID: 'OP_INSTANCE_MIGRATE', target_node: 'node1.test' }])
  const [one] = Object.values(cluster.config.instances).filter(({ name }) => name === steps[0]?.instance)
  expect(preconditions).toEqual([
    [
      { kind: 'instance', uuid: one?.uuid, serial_no: one?.serial_no },
      { kind: 'node', uuid: cluster.node('node1').uuid, serial_no: 1 },
    ],
  ])
  expect(requested).toEqual([])
  expect(cluster.locks.filter((lock) => !lock.startsWith('cluster/'))).toEqual([])
})

test('a script of the list balances, and what its relocations gain is told', async () => {
  lists({ balance: ['mine', 'hail'] })
  says = success([
    ['web.test', ['node2.test'], ['node1.test']],
    ['db.test', ['node2.test'], ['node1.test']],
  ])
  const { steps, ops, groups, more } = await balance({ max_moves: 1, groups: ['default'] })
  expect(requested).toMatchObject([{ request: { type: 'balance', max_moves: 1, group_name: 'default' } }])
  expect(steps).toMatchObject([
    { instance: 'web.test', group: 'default', kind: 'migrate', from: ['node2.test'], to: ['node1.test'] },
  ])
  expect(Number(steps[0]?.score_after)).toBeLessThan(Number(steps[0]?.score_before))
  expect(groups).toEqual([
    { group: 'default', score_before: steps[0]?.score_before, score_after: steps[0]?.score_after },
  ])
  expect([ops.length, more]).toEqual([1, true])
})

test.each([
  [[['web.test', ['node1.test'], ['node2.test']]], 'instance web.test is then on node2.test, not on node1.test'],
  [[['web.test', ['node2.test'], ['node9.test']]], 'there is no node node9.test'],
  [[['web.test', ['node2.test'], ['node2.test']]], 'no one move takes instance web.test from node2.test to node2.test'],
  [[['none.test', ['node2.test'], ['node1.test']]], 'there is no instance none.test'],
  [[['web.test', ['node2.test']]], 'Unable to read'],
])('a balance of %j is none', async (result, why) => {
  says = success(result)
  const outcome = await cluster.failure('OP_CLUSTER_BALANCE', { iallocator: 'mine' })
  expect(outcome).toEqual(['ResultValidationError', [expect.stringContaining(why)]])
})

/** One whose disks are on node1 and node2, and a node that would be better. */
function addMirrored(): void {
  cluster.addNode('node3.test', '192.0.2.3')
  cluster.addInstance('twin.test', 'node1', {}, 'node2')
}

test('a script moves a mirrored instance to its secondary, and nowhere where its disks are not', async () => {
  addMirrored()
  const relocate = (...to: string[]) => success([['twin.test', ['node1.test', 'node2.test'], to]])
  says = relocate('node2.test', 'node1.test')
  expect((await balance({ iallocator: 'mine' })).steps).toMatchObject([{ kind: 'failover', op_count: 1 }])
  says = relocate('node1.test', 'node3.test')
  expect((await balance({ iallocator: 'mine' })).steps).toMatchObject([{ kind: 'replace-secondary', copied_mib: 1152 }])
  const [kind, [text]] = (await cluster.failure('OP_CLUSTER_BALANCE', { iallocator: 'mine', disk_moves: false })) as [
    string,
    string[],
  ]
  expect(kind).toBe('ResultValidationError')
  expect(text).toMatch(/twin\.test would have its disks copied to go to node1\.test, node3\.test: that was not wanted$/)
})

test('a balance that may copy no disks says which moves it has left out', async () => {
  addMirrored()
  const kept = await balance({ disk_moves: false, explain: true })
  expect(kept.left_out).toBe('moves that copy the disks of 1 mirrored instance: they were not wanted')
  expect(kept.ops.filter(({ OP_ID }) => OP_ID === 'OP_INSTANCE_REPLACE_DISKS')).toEqual([])
  expect(kept.steps.every(({ copied_mib }) => copied_mib === 0)).toBe(true)
  expect((await balance({ disk_moves: false, groups: ['far'] })).left_out).toBeNull()
  expect((await balance()).left_out).toBeNull()
})

test('each allocator of the list is asked until one finds something', async () => {
  lists({ capacity: ['mine', 'hail'] })
  says = { success: false, info: 'the moon is wrong', result: [] }
  const { groups } = await capacity({ max_instances: 1 })
  expect(groups.map(({ fits }) => fits)).toEqual([1, 0])
  expect(cluster.log).toEqual([
    " - WARNING: Allocator 'mine' found nothing: Can't compute capacity using iallocator 'mine': the moon is wrong; asking 'hail'",
  ])
  await expect(cluster.failure('OP_CLUSTER_CAPACITY', { spec, iallocator: 'mine' })).resolves.toEqual([
    'OpPrereqError',
    ["Can't compute capacity using iallocator 'mine': the moon is wrong", 'insufficient_resources'],
  ])
})

test('a script counts what fits into each group', async () => {
  says = success([2, [['node1.test'], ['node2.test']]])
  const dedicated = { ...spec, disks_spindles: [2] }
  const answer = await capacity({ spec: dedicated, iallocator: 'mine', groups: ['default'], max_instances: 3 })
  expect(answer).toEqual({
    fits: 2,
    groups: [
      {
        ...{ group: 'default', alloc_policy: 'preferred', fits: 2, nodes: [['node1.test'], ['node2.test']] },
        ...{ reason: 'well done', candidates: null },
      },
    ],
  })
  expect(requested.map(({ request }) => request)).toMatchObject([
    {
      ...{ type: 'capacity', group_name: 'default', memory: 1024, vcpus: 1, required_nodes: 1, max_instances: 3 },
      disks: [{ size: 1024, dev_type: 'rbd', spindles: 2 }],
    },
  ])
  says = success([2, [['node1.test']]])
  await expect(cluster.failure('OP_CLUSTER_CAPACITY', { spec, iallocator: 'mine' })).resolves.toEqual([
    'ResultValidationError',
    ['iallocator returned places for 1 instances of 2, each of which has 1 node(s)'],
  ])
})

test('a caller who sees only some is told of these, and asks no script', async () => {
  const visible = { groups: ['default'], nodes: ['node1.test', 'node2.test'], instances: ['web.test'] }
  const { groups, steps } = await balance({ visible })
  expect([groups.map(({ group }) => group), steps.map(({ instance }) => instance)]).toEqual([['default'], ['web.test']])
  const answer = await cluster.run('OP_CLUSTER_WHAT_IF', { nodes: ['node2'], visible })
  expect(answer).toMatchObject({ restored: [{ instance: 'web.test' }], groups: [{ group: 'default' }] })
  await expect(cluster.failure('OP_CLUSTER_WHAT_IF', { nodes: ['far1'], visible })).resolves.toEqual([
    'OpPrereqError',
    ['There is no node far1', 'unknown_entity'],
  ])
  await expect(cluster.failure('OP_CLUSTER_BALANCE', { iallocator: 'mine', visible })).resolves.toEqual([
    'OpPrereqError',
    ["A token with a scope cannot ask the script 'mine'", 'wrong_input'],
  ])
})

test('a token is told of no node that it does not see, and a plan of a question asks nobody', async () => {
  const visible = { groups: ['default'], nodes: ['node1.test'], instances: [] }
  const big = { ...spec, memory_mib: 16_384 }
  const answer = await cluster.run('OP_CLUSTER_WHAT_IF', { instances: [{ spec: big }], explain: true, visible })
  expect(answer).toMatchObject({ refused: [{ reason: expect.stringMatching(/^no node fits: 1 /), candidates: [{ node: 'node1.test' }] }] }) // prettier-ignore
  const { groups } = await capacity({ spec: big, explain: true, visible })
  expect(groups).toMatchObject([{ group: 'default', fits: 0, candidates: [{ node: 'node1.test' }] }])
  const op = { OP_ID: 'OP_CLUSTER_CAPACITY', spec, iallocator: 'mine', reason: [] }
  const [planned] = await cluster.plan(op)
  expect(planned?.opcode).toMatchObject({ possible: true, changes: [], changes_complete: true })
  expect(requested).toEqual([])
})
