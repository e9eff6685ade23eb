// OP_INSTANCE_MULTI_ALLOC and the refusals of OP_INSTANCE_REPLACE_DISKS, on the recorded cluster.
import { FakeEnvironment } from '../../../support/fake-environment'

const instance = (name: string, more: Readonly<Record<string, unknown>> = {}) => ({
  instance_name: `${name}.gnt.example`,
  ...{ mode: 'create', os_type: 'noop', hypervisor: 'fake', disk_template: 'diskless', disks: [], nics: [] },
  ...{ ip_check: false, name_check: false, start: false },
  ...more,
})

let cluster: FakeEnvironment
beforeEach(() => {
  cluster = new FakeEnvironment()
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

test('memory that an instance was placed on is not given to the next; what fits nowhere is named', async () => {
  const free = (gib: number) => () => ['boot', [], [{ memory_free: gib * 1024, memory_total: 64 * 1024 }]]
  cluster.overrides.set('node_info', free(10))
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

test.each([
  [[instance('inst25'), instance('inst25')], 'There are duplicate instance names: inst25.gnt.example'],
  [[instance('inst25'), instance('inst26', { pnode: 'node1' })], 'Some instances name their node, others do not'],
  [
    [instance('inst25', { iallocator: 'hail' })],
    'The allocator is given for all instances together, not for one of them',
  ],
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
