// What allocators are asked, and what becomes of their answers.
import { change } from '../../../../src/config/changes'
import { networkUuid } from '../../../../src/model/ids'
import type { NodeInfo } from '../../../../src/rpc/node/dicts'
import { type FakeCluster, smallCluster } from '../../../support/fake-cluster'

let cluster: FakeCluster
let far: string
/** The input of the administrator's script, and its answer. */
let requested: unknown
let says: unknown

beforeEach(() => {
  cluster = smallCluster(['node1', 'node2'], {
    default_iallocator: 'hail',
    enabled_disk_templates: ['rbd', 'diskless'],
    enabled_hypervisors: ['fake'],
  })
  far = cluster.addGroup('far')
  for (const [index, name] of ['far1.test', 'far2.test', 'far3.test'].entries())
    cluster.addNode(name, `192.0.2.${100 + index}`, { group: cluster.groupNamed('far').uuid })
  for (const name of ['web.test', 'db.test']) cluster.addRbdDisk(cluster.addInstance(name, 'node2', running).uuid)
  const hypervisor = { memory_total: 8192, memory_free: 4096, memory_dom0: 512, cpu_total: 8, cpu_nodes: 1, cpu_sockets: 1, cpu_dom0: 1 } // prettier-ignore
  cluster.answers = {
    ...cluster.answers,
    node_info: (): NodeInfo => ['boot', [], [hypervisor]],
    all_instances_info: () => ({}),
    iallocator_runner: (_node, [name, input, params]) => {
      requested = { name, input: JSON.parse(input) as unknown, params }
      return typeof says === 'string' ? says : JSON.stringify(says)
    },
  }
})
const running = { admin_state: 'up' } as const

test('a group is emptied by one job for each instance, to the group that is left', async () => {
  const result = await cluster.run('OP_GROUP_EVACUATE', { group_name: 'default', sequential: true })
  expect(result).toEqual({ jobs: [[true, 100], [true, 101]] }) // prettier-ignore
  expect(cluster.log).toEqual([
    ' - INFO: Instances to be moved: db.test (to far), web.test (to far)',
    ' - INFO: Iallocator returned 2 job(s) for evacuating node group default',
    ' - INFO: Jobs will be submitted to run sequentially',
  ])
  const [first, second] = cluster.submitted
  expect(first).toMatchObject([{ OP_ID: 'OP_INSTANCE_MIGRATE', instance_name: 'db.test' }])
  expect(first?.[0]?.['target_node']).toMatch(/^far\d\.test$/)
  expect(first?.[0]?.['depends']).toBeUndefined()
  expect(second).toMatchObject([{ instance_name: 'web.test', depends: [[-1, ['error', 'success']]] }])
  expect(cluster.hooks('group-evacuate', 'pre')).toMatchObject({
    nodes: ['node1.test', 'node2.test'],
    env: { GANETI_GROUP_NAME: 'default', GANETI_TARGET_GROUPS: far },
  })
  expect(cluster.locks).toEqual(
    expect.arrayContaining(['instance/web.test shared', 'nodegroup/[lockset] shared', `node/${cluster.node('far1').uuid} shared`]), // prettier-ignore
  )
})

test('a user who insists on failovers gets no migrations', async () => {
  await cluster.run('OP_GROUP_EVACUATE', { group_name: 'default', target_groups: ['far'], force_failover: true })
  const [step] = cluster.submitted.flat()
  expect(Object.keys(step ?? {})).not.toContain('allow_failover')
  expect(cluster.submitted.flat().map(({ OP_ID }) => OP_ID)).toEqual(['OP_INSTANCE_FAILOVER', 'OP_INSTANCE_FAILOVER'])
})

test('a group is no target for itself, and one alone has none', async () => {
  await expect(cluster.failure('OP_GROUP_EVACUATE', { group_name: 'far', target_groups: ['far'] })).resolves.toEqual([
    'OpPrereqError',
    [`Group to be evacuated (${far}) can not be used as a target group (targets are ${far})`, 'wrong_input'],
  ])
  cluster = smallCluster(['node1'], { default_iallocator: 'hail' })
  await expect(cluster.failure('OP_GROUP_EVACUATE', { group_name: 'default' })).resolves.toEqual([
    'OpPrereqError',
    ['There are no possible target groups', 'wrong_input'],
  ])
})

test('an instance changes to a group other than its own', async () => {
  await cluster.run('OP_INSTANCE_CHANGE_GROUP', { instance_name: 'web' })
  expect(cluster.submitted).toMatchObject([[{ OP_ID: 'OP_INSTANCE_MIGRATE', instance_name: 'web.test' }]])
  expect(cluster.log.at(-1)).toBe(" - INFO: Iallocator returned 1 job(s) for changing group of instance 'web.test'")
  const own = cluster.groupNamed('default').uuid
  await expect(
    cluster.failure('OP_INSTANCE_CHANGE_GROUP', { instance_name: 'web', target_groups: ['default'] }),
  ).resolves.toEqual([
    'OpPrereqError',
    [`Can't use group(s) '${own}' as targets, they are used by the instance 'web.test'`, 'wrong_input'],
  ])
})

test('an instance that cannot move is named, and nothing moves', async () => {
  for (const name of ['far1', 'far2', 'far3'])
    cluster.config = { ...cluster.config, nodes: { ...cluster.config.nodes, [cluster.node(name).uuid]: { ...cluster.node(name), offline: true } } } // prettier-ignore
  const outcome = await cluster.failure('OP_GROUP_EVACUATE', { group_name: 'default' })
  expect(outcome).toEqual(['OpExecError', [expect.stringMatching(/^Unable to evacuate instances db\.test \(.+\), web\.test/)]]) // prettier-ignore
  expect(cluster.submitted).toEqual([])
})

test('the input of an allocator can be looked at: the configuration, and how full the nodes are', async () => {
  const text = await cluster.run('OP_TEST_ALLOCATOR', { direction: 'in', mode: 'change-group', name: 'x', instances: ['web'], target_groups: ['far'] }) // prettier-ignore
  const input = JSON.parse(String(text)) as Record<string, Record<string, unknown>>
  expect(Object.keys(input)).toEqual(
    ['version', 'cluster_name', 'cluster_tags', 'enabled_hypervisors', 'ipolicy', 'nodegroups', 'nodes', 'instances', 'request'], // prettier-ignore
  )
  expect(input['request']).toEqual({ type: 'change-group', instances: ['web.test'], target_groups: [far] })
  // Two instances of 128 MiB should run, and use nothing yet.
  expect(input['nodes']?.['node2.test']).toMatchObject({
    ...{ total_memory: 8192, free_memory: 4096 - 256, i_pri_memory: 256, i_pri_up_memory: 256, total_disk: 0 },
    ...{ total_cpus: 8, reserved_cpus: 1, offline: false, vm_capable: true },
  })
  expect(input['instances']?.['web.test']).toMatchObject({
    ...{ nodes: ['node2.test'], memory: 128, vcpus: 1, disk_template: 'rbd', disk_space_total: 1024 },
    disks: [{ dev_type: 'rbd', size: 1024, mode: 'rw', spindles: null }],
  })
})

test('a node that does not answer gets no instances, and the others are asked all the same', async () => {
  cluster.answers.node_info = ({ name }) => {
    if (name === 'far1.test') throw new Error('no route to host')
    return ['boot', [], [{ memory_total: 8192, memory_free: 8192, memory_dom0: 0, cpu_total: 8, cpu_nodes: 1, cpu_sockets: 1, cpu_dom0: 1 }]] // prettier-ignore
  }
  const text = await cluster.run('OP_TEST_ALLOCATOR', { direction: 'in', mode: 'relocate', name: 'web' })
  expect(cluster.log).toEqual([" - WARNING: Can't get data for node far1.test, so no instance will be placed there"])
  expect((JSON.parse(String(text)) as { nodes: unknown }).nodes).toMatchObject({
    ...{ 'far1.test': { offline: true }, 'far2.test': { offline: false, free_memory: 8192 } },
  })
})

const out = { direction: 'out', mode: 'relocate', name: 'web', iallocator: 'mine' }

test('a script of the administrator is asked on the master, with the parameters of the cluster', async () => {
  says = 'what it says'
  await expect(cluster.run('OP_TEST_ALLOCATOR', out)).resolves.toBe('what it says')
  expect(requested).toMatchObject({
    name: 'mine',
    params: {},
    input: { request: { type: 'relocate', name: 'web.test' } },
  })
  expect(cluster.calls('iallocator_runner').map(({ node }) => node)).toEqual(['node1.test'])
})

test('a script or the built-in allocator can be asked for a balance, and how many instances fit', async () => {
  const ask = (more: object) => cluster.run('OP_TEST_ALLOCATOR', { direction: 'out', name: 'x', ...more })
  says = 'what it says'
  await expect(ask({ mode: 'balance', count: 3, iallocator: 'mine' })).resolves.toBe('what it says')
  expect(requested).toMatchObject({ input: { request: { type: 'balance', max_moves: 3 } } })
  const moves = JSON.parse(String(await ask({ mode: 'balance', count: 1, iallocator: 'hail' }))) as { result: unknown }
  expect(moves).toMatchObject({ success: true, result: [[expect.any(String), ['node2.test'], ['node1.test']]] })
  const size = { memory: 1000, vcpus: 1, disks: [{ size: 1024, mode: 'rw' }], disk_template: 'rbd', group_name: 'far' }
  const fit = JSON.parse(String(await ask({ mode: 'capacity', ...size, iallocator: 'hail' }))) as { result: unknown[] }
  expect(fit.result).toEqual([expect.any(Number), expect.arrayContaining([[expect.stringMatching(/^far/)]])])
  expect(fit.result[1]).toHaveLength(Number(fit.result[0]))
})

const lists = (list: Readonly<Record<string, readonly string[]>>) =>
  cluster.given(...Object.entries(list).map(([kind, names]) => change('setGantry', 'allocators', kind, names)))
const evacuation = { node_name: 'node2', mode: 'primary-only' }

test('the allocators of a kind of question are asked in order until one finds something', async () => {
  lists({ 'node-evacuate': ['mine', 'hail'] })
  says = { success: false, info: 'the moon is wrong', result: [] }
  await cluster.run('OP_NODE_EVACUATE', evacuation)
  expect(cluster.submitted.flat().map(({ instance_name: name }) => name)).toEqual(['db.test', 'web.test'])
  expect(cluster.log).toContain(
    " - WARNING: Allocator 'mine' found nothing: Can't compute node evacuation using iallocator 'mine': the moon is wrong; asking 'hail'",
  )
  // A script that places only some instances has failed.
  says = success([
    [['web.test', 'default', ['node1.test']]],
    [['db.test', 'no room']],
    [[{ OP_ID: 'OP_INSTANCE_MIGRATE' }]],
  ])
  cluster.submitted.length = 0
  await cluster.run('OP_NODE_EVACUATE', evacuation)
  expect(cluster.submitted).toHaveLength(2)
  lists({ 'node-evacuate': ['hail', 'mine'] })
  requested = undefined
  await cluster.run('OP_NODE_EVACUATE', evacuation)
  expect(requested).toBeUndefined()
})

test('where none finds anything, the error is that of the last one', async () => {
  lists({ allocate: ['hail', 'mine'] })
  cluster.answers.node_info = () => {
    throw new Error('no route to host')
  }
  says = { success: false, info: 'the moon is wrong', result: [] }
  await expect(
    cluster.failure('OP_INSTANCE_CREATE', { ...create, disk_template: 'diskless', disks: [] }),
  ).resolves.toEqual([
    'OpPrereqError',
    ["Can't compute nodes using iallocator 'mine': the moon is wrong", 'insufficient_resources'],
  ])
  expect(cluster.log[0]).toMatch(/^ - WARNING: Allocator 'hail' found nothing: .*5 did not answer; asking 'mine'$/)
})

test('each kind has its own list, without one there is the default allocator, and whoever names one or a node gets that', async () => {
  lists({ 'change-group': ['mine'], allocate: ['mine'] })
  const placed = { ...create, disk_template: 'diskless', disks: [] }
  says = success([[], [['web.test', 'no']], []])
  await expect(cluster.failure('OP_INSTANCE_CHANGE_GROUP', { instance_name: 'web' })).resolves.toEqual([
    'OpExecError',
    ['Unable to evacuate instances web.test (no)'],
  ])
  await cluster.run('OP_INSTANCE_CHANGE_GROUP', { instance_name: 'web', iallocator: 'hail' })
  await cluster.run('OP_NODE_EVACUATE', evacuation)
  expect(cluster.calls('iallocator_runner')).toHaveLength(1)
  await cluster.failure('OP_INSTANCE_CREATE', { ...placed, pnode: 'far1' })
  expect(cluster.calls('iallocator_runner')).toHaveLength(1)
  await cluster.failure('OP_INSTANCE_CREATE', { ...placed, iallocator: '.' })
  expect(cluster.calls('iallocator_runner')).toHaveLength(2)
  lists({ 'change-group': [] })
  cluster.config = { ...cluster.config, cluster: { ...cluster.config.cluster, default_iallocator: '' } }
  await expect(cluster.failure('OP_INSTANCE_CHANGE_GROUP', { instance_name: 'web' })).resolves.toEqual([
    'OpPrereqError',
    ['No iallocator was specified, neither in the opcode nor as a cluster-wide default', 'wrong_input'],
  ])
})

const success = (result: unknown) => ({ success: true, info: 'well done', result })
const create = { mode: 'create', instance_name: 'new.test', disk_template: 'rbd', disks: [{ size: 10 }], nics: [], os_type: 'noop', hypervisor: 'fake', beparams: { memory: 64 } } // prettier-ignore

test('a script places a new instance, if it may be there', async () => {
  says = success(['far2.test'])
  // This test does not care how far the job gets on that node.
  const desired = { ...create, disk_template: 'diskless', disks: [] }
  await cluster.failure('OP_INSTANCE_CREATE', { ...desired, iallocator: 'mine' })
  expect(cluster.log[0]).toBe(' - INFO: Selected nodes for instance new.test via iallocator mine: far2.test')
  expect(requested).toMatchObject({
    input: {
      request: { type: 'allocate', name: 'new.test', memory: 64, vcpus: 1, required_nodes: 1, os: 'noop', nics: [] },
    },
  })
  says = { success: false, info: 'the moon is wrong', result: [] }
  await expect(cluster.failure('OP_INSTANCE_CREATE', { ...desired, iallocator: 'mine' })).resolves.toEqual([
    'OpPrereqError',
    ["Can't compute nodes using iallocator 'mine': the moon is wrong", 'insufficient_resources'],
  ])
})

test('a script is told the networks of NICs by uuid, as it is told those of the groups', async () => {
  const uuid = networkUuid('5b7ee0bc-93a5-4d4b-8b6f-1f3d6e2b7a10')
  const net = { name: 'net1', uuid, network: '192.0.2.0/24', tags: [], serial_no: 1, ctime: 0, mtime: 0 }
  cluster.config = { ...cluster.config, networks: { [uuid]: net } }
  says = success(['far2.test'])
  const desired = {
    ...create,
    disk_template: 'diskless',
    disks: [],
    nics: [{ ip: 'pool', network: 'net1', name: 'first' }, { link: 'br1' }],
  }
  await cluster.failure('OP_INSTANCE_CREATE', { ...desired, iallocator: 'mine' })
  const { request } = (requested as { input: { request: object } }).input
  // As Ganeti writes them: what is in the configuration, parameters of their own apart.
  expect(request).toHaveProperty('nics', [
    { name: 'first', mac: 'auto', ip: 'pool', network: uuid, nicparams: {}, uuid: expect.any(String) },
    { mac: 'auto', nicparams: { link: 'br1' }, uuid: expect.any(String) },
  ])
})

test('why an instance cannot change its group is told of the groups that it was to go to', async () => {
  const why = async () => {
    const [, [text]] = (await cluster.failure('OP_INSTANCE_CHANGE_GROUP', { instance_name: 'web' })) as [
      string,
      string[],
    ]
    return text
  }
  for (const name of ['far1', 'far2', 'far3'])
    cluster.given(change('patchNode', cluster.node(name).uuid, { drained: true }))
  expect(await why()).toBe('Unable to evacuate instances web.test (no node of group far fits: 3 are drained)')
  cluster.given(change('patchNode', cluster.node('far1').uuid, { drained: false }))
  cluster.answers.node_info = (node): NodeInfo => {
    const memory = { memory_total: 8192, memory_free: node.name.startsWith('far') ? 64 : 4096, memory_dom0: 512 }
    return ['boot', [], [{ ...memory, cpu_total: 8, cpu_nodes: 1, cpu_sockets: 1, cpu_dom0: 1 }]]
  }
  expect(await why()).toBe(
    'Unable to evacuate instances web.test (no node of group far fits: 2 are drained, 1 lacks memory (largest free 64 MiB on far1.test, 128 needed))',
  )
  cluster.addGroup('empty')
  const op = { instance_name: 'web', target_groups: ['empty'] }
  await expect(cluster.failure('OP_INSTANCE_CHANGE_GROUP', op)).resolves.toEqual([
    'OpExecError',
    ['Unable to evacuate instances web.test (no node fits: group empty has none)'],
  ])
})

test('a script says how a group is emptied, with opcodes that move instances and with no others', async () => {
  const moved = [['web.test', 'far', ['far1.test']]]
  const step = { OP_ID: 'OP_INSTANCE_MIGRATE', instance_name: 'web.test', target_node: 'far1.test' }
  says = success([moved, [], [[step]]])
  await cluster.run('OP_GROUP_EVACUATE', { group_name: 'default', iallocator: 'mine' })
  expect(cluster.submitted).toMatchObject([[step]])
  expect(requested).toMatchObject({ input: { request: { type: 'change-group', instances: ['db.test', 'web.test'], target_groups: [far] } } }) // prettier-ignore
  says = success([moved, [], [[{ OP_ID: 'OP_CLUSTER_DESTROY' }]]])
  const refused = await cluster.failure('OP_GROUP_EVACUATE', { group_name: 'default', iallocator: 'mine' })
  expect(refused).toEqual(['ResultValidationError', [expect.stringMatching(/^iallocator returned invalid result: /)]])
})

test('a script empties a node, also where soft errors do not count', async () => {
  says = success([[], [['web.test', null]], []])
  const op = { node_name: 'node2', mode: 'primary-only', iallocator: 'mine', ignore_soft_errors: true }
  await expect(cluster.failure('OP_NODE_EVACUATE', op)).resolves.toEqual([
    'OpExecError',
    ['Unable to evacuate instances web.test (no reason was given)'],
  ])
  expect(requested).toMatchObject({
    params: { 'ignore-soft-errors': null },
    input: { request: { evac_mode: 'primary-only' } },
  })
})

test('a script places several instances at once', async () => {
  says = success([[['new.test', ['far1.test']]], ['other.test']])
  const instances = [create, { ...create, instance_name: 'other.test' }]
  const answer = await cluster.run('OP_INSTANCE_MULTI_ALLOC', { iallocator: 'mine', instances })
  expect(answer).toEqual({ allocatable: ['new.test'], failed: ['other.test'], jobs: [[true, 100]] })
  expect(cluster.submitted).toMatchObject([[{ OP_ID: 'OP_INSTANCE_CREATE', pnode: 'far1.test' }]])
})

test.each([
  ['no json', 'OpExecError', /^Can't parse iallocator results: .*JSON/],
  ['[]', 'OpExecError', /not a dict$/],
  ['{"success": true, "info": ""}', 'OpExecError', /missing key 'result'$/],
  [
    '{"success": true, "info": "", "result": [1]}',
    'ResultValidationError',
    /^iallocator returned invalid result.* got \[1\]$/,
  ],
])('a script that prints %s is no allocator', async (text, kind, why) => {
  says = text
  const outcome = await cluster.failure('OP_INSTANCE_CHANGE_GROUP', { instance_name: 'web', iallocator: 'mine' })
  expect(outcome).toEqual([kind, [expect.stringMatching(why)]])
})

test('however much a script says, the error of the job stays short', async () => {
  const op = { instance_name: 'web', iallocator: 'mine' }
  const lengths = []
  for (const answer of [
    { success: false, info: 'x'.repeat(1e6), result: [] },
    success('x'.repeat(1e6)),
    'x'.repeat(1e6),
  ]) {
    says = answer
    lengths.push(JSON.stringify(await cluster.failure('OP_INSTANCE_CHANGE_GROUP', op)).length)
  }
  expect(Math.max(...lengths)).toBeLessThan(2500)
})

test('a script must name nodes that there are, and for a relocation in the same group', async () => {
  says = success(['nowhere.test'])
  const desired = { ...create, disk_template: 'diskless', disks: [] }
  await expect(cluster.failure('OP_INSTANCE_CREATE', { ...desired, iallocator: 'mine' })).resolves.toEqual([
    'OpPrereqError',
    ["Node 'nowhere.test' not known", 'unknown_entity'],
  ])
  says = success(['far1.test'])
  await expect(cluster.failure('OP_INSTANCE_MIGRATE', { instance_name: 'web', iallocator: 'mine' })).resolves.toEqual([
    'ResultValidationError',
    ['Groups of nodes returned by iallocator (default, far) differ from original groups (default)'],
  ])
})

test.each([
  [{ direction: 'out', mode: 'allocate', name: 'n' }, 'Missing allocator name', 'wrong_input'],
  [{ direction: 'in', mode: 'allocate', name: 'web' }, "Instance 'web.test' already in the cluster", 'already_exists'],
  [{ direction: 'in', mode: 'allocate', name: 'n', disks: [{ size: 1 }] }, "Invalid contents of the 'disks' parameter", 'wrong_input'], // prettier-ignore
  [{ direction: 'in', mode: 'node-evacuate', name: 'n' }, 'Missing instances', 'wrong_input'],
])('%j is refused', async (given, text, code) => {
  await expect(cluster.failure('OP_TEST_ALLOCATOR', given)).resolves.toEqual(['OpPrereqError', [text, code]])
})
