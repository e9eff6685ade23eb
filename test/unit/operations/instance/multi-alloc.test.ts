// OP_INSTANCE_MULTI_ALLOC and the refusals of OP_INSTANCE_REPLACE_DISKS, on the recorded cluster.
import { step } from '../../../../src/locks/table'
import { type FakeCluster, simulatedCluster } from '../../../support/fake-cluster'

const instance = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  instance_name: `${name}.gnt.example`,
  ...{ mode: 'create', os_type: 'noop', hypervisor: 'fake', disk_template: 'diskless', disks: [], nics: [] },
  ...{ ip_check: false, name_check: false, start: false },
  ...more,
})

let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
})

test('each instance gets a node and a job of its own', async () => {
  const instances = [instance('inst25'), instance('inst26')]
  await expect(cluster.run('OP_INSTANCE_MULTI_ALLOC', { iallocator: 'hail', instances })).resolves.toEqual({
    allocatable: ['inst25.gnt.example', 'inst26.gnt.example'],
    failed: [],
    jobs: [
      [true, expect.any(Number)],
      [true, expect.any(Number)],
    ],
  })
  expect(cluster.submitted).toMatchObject([
    [{ OP_ID: 'OP_INSTANCE_CREATE', ...instances[0], comment: 'Submitted by OP_INSTANCE_MULTI_ALLOC' }],
    [{ OP_ID: 'OP_INSTANCE_CREATE', ...instances[1] }],
  ])
  const names = Object.values(cluster.config.nodes).map(({ name }) => name)
  for (const [op] of cluster.submitted) expect(names).toContain(op?.['pnode'])
})

test('the job shows where each instance goes, and its job says which one it comes from', async () => {
  const instances = [instance('inst25'), instance('inst26', { comment: 'mine' })]
  const common = { iallocator: 'hail', instances, comment: 'both', debug_level: 1, reason: [['gnt:user', 'why', 1]] }
  await cluster.run('OP_INSTANCE_MULTI_ALLOC', common)
  const expected = ['Submitted by OP_INSTANCE_MULTI_ALLOC', 'mine'].map((comment, index) => {
    const { pnode, pnode_uuid } = cluster.submitted[index]?.[0] ?? { OP_ID: 'none' }
    return { pnode, pnode_uuid, snode: null, osparams_secret: {}, comment, debug_level: 1, reason: common.reason }
  })
  expect(cluster.noted).toMatchObject({ instances: expected })
  for (const { pnode, pnode_uuid } of expected) expect(cluster.config.nodes[String(pnode_uuid)]?.name).toBe(pnode)
})

test('instances that name their nodes go there, and only these are locked', async () => {
  const instances = [instance('inst25', { pnode: 'node1' }), instance('inst26', { pnode: 'node2' })]
  await cluster.run('OP_INSTANCE_MULTI_ALLOC', { instances })
  const [one, two] = ['node1', 'node2'].map((name) => cluster.node(name))
  expect(cluster.submitted.map(([op]) => [op?.['pnode'], op?.['pnode_uuid']])).toEqual([
    [one?.name, one?.uuid],
    [two?.name, two?.uuid],
  ])
  expect(cluster.lockRequests.flat().filter(([name]) => name.startsWith('node/'))).toEqual([
    [`node/${one?.uuid}`, 'shared'],
    [`node/${two?.uuid}`, 'shared'],
  ])
})

test('with opportunistic locking only nodes that nobody holds are used', async () => {
  const held = cluster.node('node1')
  step(cluster.table, {
    ...{ owner: [9, '/livelock/9', 99], at: 0, kind: 'update', priority: 0 },
    request: [[`node/${held.uuid}`, 'exclusive']],
  })
  const instances = Array.from({ length: 6 }, (_, index) => instance(`multi${index}`))
  await cluster.run('OP_INSTANCE_MULTI_ALLOC', { opportunistic_locking: true, instances })
  const used = new Set(cluster.submitted.map(([op]) => op?.['pnode']))
  expect(used.size).toBeGreaterThan(1)
  expect(used).not.toContain(held.name)
  expect(cluster.noted).toMatchObject({ iallocator: 'hail' })
})

test('a caller who names neither nodes nor an allocator, where none is the default, is told what to give', async () => {
  cluster.change('patchCluster', { default_iallocator: '' })
  const instances = [instance('inst25')]
  await expect(cluster.failure('OP_INSTANCE_MULTI_ALLOC', { instances })).resolves.toEqual([
    'OpPrereqError',
    [
      expect.stringMatching(/^No iallocator or nodes on the instances given and no cluster-wide default/),
      'wrong_input',
    ],
  ])
})

test('a dry run tells which instances have room, and submits nothing', async () => {
  const op = { iallocator: 'hail', instances: [instance('inst25')], dry_run: true }
  await expect(cluster.run('OP_INSTANCE_MULTI_ALLOC', op)).resolves.toEqual({
    allocatable: ['inst25.gnt.example'],
    failed: [],
    jobs: [],
  })
  expect(cluster.submitted).toEqual([])
})

test('memory that an instance was placed on is not given to the next; what fits nowhere is named', async () => {
  const memory = { memory_free: 10 * 1024, memory_total: 64 * 1024, memory_dom0: 1024 }
  const cpus = { cpu_total: 16, cpu_nodes: 1, cpu_sockets: 1, cpu_dom0: 1 }
  cluster.answers.node_info = () => ['boot', [], [{ ...memory, ...cpus }]]
  cluster.change('patchCluster', { default_iallocator_params: { 'no-capacity-checks': null } })
  const big = { beparams: { memory: 6 * 1024 }, ignore_ipolicy: true }
  const usable = Object.values(cluster.config.nodes).filter(({ offline, drained }) => !offline && !drained).length
  const names = Array.from({ length: usable + 1 }, (_, index) => `multi${index}`)
  const instances = names.map((name) => instance(name, big))
  await expect(cluster.run('OP_INSTANCE_MULTI_ALLOC', { iallocator: 'hail', instances })).resolves.toMatchObject({
    allocatable: names.slice(0, -1).map((name) => `${name}.gnt.example`),
    failed: [`${names.at(-1)}.gnt.example`],
  })
  expect(new Set(cluster.submitted.map(([op]) => op?.['pnode'])).size).toBe(usable)
})

test('room is left for the instances of any one node that dies, and an error says when that is why', async () => {
  const memory = { memory_free: 10 * 1024, memory_total: 64 * 1024, memory_dom0: 1024 }
  const cpus = { cpu_total: 16, cpu_nodes: 1, cpu_sockets: 1, cpu_dom0: 1 }
  cluster.answers.node_info = () => ['boot', [], [{ ...memory, ...cpus }]]
  const usable = Object.values(cluster.config.nodes).filter(({ offline, drained }) => !offline && !drained).length
  const big = { beparams: { memory: 6 * 1024 }, ignore_ipolicy: true }
  const instances = Array.from({ length: usable }, (_, index) => instance(`multi${index}`, big))
  await cluster.run('OP_INSTANCE_MULTI_ALLOC', { iallocator: 'hail', instances })
  expect(cluster.submitted.length).toBeLessThan(usable)
  expect(cluster.log.join('\n')).toMatch(
    /No nodes for instance multi\d\.gnt\.example: no node fits: .*\d would leave no room for the instances of a node that dies.*; name a node or a group \(-n, -g\), or leave this check out with .* no-capacity-checks=/,
  )
})

test.each([
  [[instance('inst25'), instance('inst25')], 'There are duplicate instance names: inst25.gnt.example'],
  [
    [instance('inst25'), instance('inst26', { pnode: 'node1' })],
    'There are instance objects providing pnode/snode while others do not',
  ],
  [
    [instance('inst25', { commit: true })],
    'The nodes of instance inst25.gnt.example are reserved: commit to it in a job of its own',
  ],
  [[instance('inst25', { iallocator: 'hail' })], 'iallocator are not allowed to be set on instance objects'],
])('%# is refused and submits nothing', async (instances, text) => {
  await expect(cluster.failure('OP_INSTANCE_MULTI_ALLOC', { iallocator: 'hail', instances })).resolves.toEqual([
    'OpPrereqError',
    [text, 'wrong_input'],
  ])
  expect(cluster.submitted).toEqual([])
})

test.each([
  [
    { mode: 'replace_auto', disks: [0] },
    'The instance has a strange layout, expected one secondary but found 0',
    'internal_error',
  ],
  [{ mode: 'replace_new_secondary' }, 'A new secondary node is either named or chosen by an allocator', 'wrong_input'],
  [
    { mode: 'replace_on_primary', remote_node: 'node2.gnt.example' },
    'A new node or an allocator is for a change of the secondary node only',
    'wrong_input',
  ],
])('disks without a mirror cannot be replaced: %j', async (params, text, code) => {
  const op = { instance_name: 'inst2.gnt.example', ...params }
  await expect(cluster.failure('OP_INSTANCE_REPLACE_DISKS', op)).resolves.toEqual(['OpPrereqError', [text, code]])
})
