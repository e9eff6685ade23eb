// Migration, failover and move, with the steps and words of a real master.
import { change } from '../../../../src/config/changes'
import { type FakeCluster, simulatedCluster } from '../../../support/fake-cluster'

// inst6: sharedfile, up on node3; inst2: file; inst1: diskless, up on node2; inst4: diskless, down on node3.
let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
})
afterEach(() => {
  expect(cluster.table.owners.size).toBe(0)
  expect(cluster.inconsistencies()).toEqual([])
})

const move = { instance_name: 'inst6.gnt.example', target_node: 'node1.gnt.example' }
const fail = (text: string) => () => {
  throw new Error(text)
}
const primary = () => cluster.config.nodes[cluster.instance('inst6')?.primary_node ?? '']?.name

test('an instance without disks migrates with the same words, in the mode of its hypervisor', async () => {
  await expect(
    cluster.run('OP_INSTANCE_MIGRATE', { instance_name: 'inst1', target_node: 'node1.gnt.example' }),
  ).resolves.toBeNull()
  expect(cluster.log).toContain('* closing instance disks on node node1.gnt.example')
  expect(cluster.log).toContain('* opening instance disks on node node1.gnt.example in exclusive mode')
  expect(cluster.calls('blockdev_close')).toEqual([])
  expect(cluster.noted).toMatchObject({ mode: 'live' })
})

test('a migration takes the steps of a real master, in its order', async () => {
  await expect(cluster.run('OP_INSTANCE_MIGRATE', { ...move, mode: 'live' })).resolves.toBeNull()
  expect(cluster.log).toEqual([
    'Migrating instance inst6.gnt.example',
    '* checking disk consistency between source and target',
    '* closing instance disks on node node1.gnt.example',
    '* opening instance disks on node node3.gnt.example in shared mode',
    '* opening instance disks on node node1.gnt.example in shared mode',
    '* preparing node1.gnt.example to accept the instance',
    '* migrating instance to node1.gnt.example',
    '* starting memory transfer',
    '* memory transfer complete',
    '* closing instance disks on node node3.gnt.example',
    '* opening instance disks on node node1.gnt.example in exclusive mode',
    '* done',
  ])
  expect(primary()).toBe('node1.gnt.example')
  expect(cluster.runningOn('inst6')).toEqual(['node1.gnt.example'])
  const target = cluster.node('node1')
  expect(cluster.calls('instance_migrate')[0]?.args).toMatchObject([
    'cluster.gnt.example',
    {},
    target.secondary_ip,
    true,
  ])
})

test('the node that takes over notes why, also after a cleanup; one with Ganeti need not know how', async () => {
  const reported = () => cluster.calls('gantry_reason').map(({ node, args }) => [node, args[0], args[2]])
  await cluster.run('OP_INSTANCE_MIGRATE', { ...move, reason: [['cli:migrate', 'for a test', 1]] })
  expect(reported()).toEqual([['node1.gnt.example', 'inst6.gnt.example', 'migrate']])
  expect(JSON.stringify(cluster.calls('gantry_reason')[0]?.args[1])).toContain('for a test')

  cluster.answers.gantry_reason = () => {
    throw new Error('Unknown method gantry_reason')
  }
  const back = { ...move, target_node: 'node3.gnt.example' }
  await expect(cluster.run('OP_INSTANCE_MIGRATE', back)).resolves.toBeNull()
})

test('progress is told every ten seconds', async () => {
  let requested = 0
  cluster.answers.gantry_migration_status = () =>
    requested++ < 60 ? { status: 'active', transferred_ram: requested, total_ram: 100 } : { status: 'completed' }
  await cluster.run('OP_INSTANCE_MIGRATE', move)
  expect(cluster.log).toContainEqual(expect.stringMatching(/^\* memory transfer progress: 5\d\.00 %$/))
})

test.each([
  ['accept_instance', 'Could not pre-migrate instance inst6.gnt.example: no', 'Pre-migration failed, aborting'],
  ['instance_migrate', 'Could not migrate instance inst6.gnt.example: no', 'Migration failed, aborting'],
  ['gantry_migration_status', 'Could not migrate instance inst6.gnt.example: no', 'Migration failed, aborting'],
] as const)('when %s fails, the instance stays where it runs', async (call, text, line) => {
  cluster.answers[call] = fail('no')
  await expect(cluster.failure('OP_INSTANCE_MIGRATE', move)).resolves.toEqual(['OpExecError', [text]])
  expect(cluster.log).toContain(line)
  expect(primary()).toBe('node3.gnt.example')
  expect(cluster.runningOn('inst6')).toEqual(['node3.gnt.example'])
  expect(cluster.calls('instance_finalize_migration_dst')[0]?.args[2]).toBe(false)
  expect(cluster.log.at(-1)).toBe('* opening instance disks on node node3.gnt.example in exclusive mode')
})

test('a guest that its target could not load goes on at its source, and the job tells why', async () => {
  cluster.change('patchInstance', String(cluster.instance('inst6')?.uuid), { hypervisor: 'kvm' })
  const loads = { memory: 128, vcpus: 1, state: 0, time: 0 }
  cluster.answers.instance_info = ({ name }) => (name === 'node1.gnt.example' ? {} : loads)
  cluster.answers.instance_finalize_migration_dst = () => "Unknown savevm section 'kvmclock'"
  await expect(cluster.failure('OP_INSTANCE_MIGRATE', move)).resolves.toEqual([
    'OpExecError',
    [
      "Could not migrate instance inst6.gnt.example: the target did not load it; node node1.gnt.example says: Unknown savevm section 'kvmclock'",
    ],
  ])
  expect(primary()).toBe('node3.gnt.example')
  expect(cluster.runningOn('inst6')).toEqual(['node3.gnt.example'])
  expect(cluster.calls('instance_finalize_migration_src').map(({ args }) => args[1])).toEqual([false])
})

test.each([
  ['OP_INSTANCE_MIGRATE', 'migrations'],
  ['OP_INSTANCE_FAILOVER', 'failovers'],
])('%s: local files do not move', async (op, what) => {
  await expect(cluster.failure(op, { ...move, instance_name: 'inst2.gnt.example' })).resolves.toEqual([
    'OpPrereqError',
    [`Instance's disk layout 'file' does not allow ${what}`, 'wrong_state'],
  ])
})

test.each([
  [
    { target_node: 'node3.gnt.example' },
    'Cannot migrate instance inst6.gnt.example to its primary (node3.gnt.example)',
  ],
  [{ iallocator: 'hail' }, 'Do not specify both, iallocator and node'],
  [{ live: true, mode: 'live' }, "Only one of the 'live' and 'mode' parameters are accepted"],
  [{ target_node: 'nosuch' }, "Node 'nosuch' not known"],
])('%j is refused', async (input, text) => {
  await expect(cluster.failure('OP_INSTANCE_MIGRATE', { ...move, ...input })).resolves.toEqual([
    'OpPrereqError',
    [text, expect.any(String)],
  ])
  expect(cluster.calls('instance_migrate')).toEqual([])
})

test('drained and offline nodes are no targets', async () => {
  cluster.change('patchNode', cluster.node('node2').uuid, { drained: true, master_candidate: false })
  const drained = await cluster.failure('OP_INSTANCE_MIGRATE', { ...move, target_node: 'node2' })
  expect(drained).toEqual(['OpPrereqError', ["Can't use drained node node2.gnt.example", 'wrong_state']])
  cluster.change('patchNode', cluster.node('node2').uuid, { drained: false, offline: true })
  const offline = await cluster.failure('OP_INSTANCE_MIGRATE', { ...move, target_node: 'node2' })
  expect(offline).toEqual(['OpPrereqError', ["Can't use offline node: node2.gnt.example", 'wrong_state']])
})

test('without a target the allocator chooses another node of the group', async () => {
  await cluster.run('OP_INSTANCE_MIGRATE', { instance_name: 'inst6', iallocator: 'hail' })
  expect(cluster.log[0]).toMatch(
    /^ - INFO: Selected nodes for instance inst6.gnt.example via iallocator hail: node[12]/,
  )
  expect(primary()).not.toBe('node3.gnt.example')
})

test('a stopped instance is not migrated, but fails over where that is allowed', async () => {
  const stopped = { ...move, instance_name: 'inst4' }
  const [name] = (await cluster.failure('OP_INSTANCE_MIGRATE', stopped)) as [string]
  expect(name).toBe('OpPrereqError')
  await cluster.run('OP_INSTANCE_MIGRATE', { ...stopped, allow_failover: true })
  expect(cluster.log).toContain(' - INFO: Instance is marked down or offline, fallback allowed, switching to failover')
  expect(cluster.instance('inst4')?.primary_node).toBe(cluster.node('node1').uuid)
  expect(cluster.runningOn('inst4')).toEqual([])
})

test('cleanup believes what it finds', async () => {
  const { uuid } = cluster.instance('inst6') ?? {}
  const runtime = { hypervisor: 'fake', memory: 64, vcpus: 1 }
  const cleanup = { ...move, cleanup: true }
  await cluster.run('OP_INSTANCE_MIGRATE', cleanup)
  expect(cluster.log).toContain('* instance confirmed to be running on its primary node (node3.gnt.example)')

  cluster.world.node('node1.gnt.example').instances.set('inst6.gnt.example', runtime)
  await expect(cluster.failure('OP_INSTANCE_MIGRATE', cleanup)).resolves.toEqual([
    'OpExecError',
    [expect.stringContaining('Instance seems to be running on two nodes')],
  ])
  // Both nodes were told that the migration has failed; here that does not help.
  expect(cluster.calls('instance_finalize_migration_dst').map(({ node, args }) => [node, args[2]])).toEqual([
    ['node1.gnt.example', false],
  ])
  expect(cluster.calls('instance_finalize_migration_src').map(({ node, args }) => [node, args[1]])).toEqual([
    ['node3.gnt.example', false],
  ])
  cluster.world.node('node3.gnt.example').instances.delete('inst6.gnt.example')
  await cluster.run('OP_INSTANCE_MIGRATE', cleanup)
  expect(cluster.config.instances[uuid ?? '']?.primary_node).toBe(cluster.node('node1').uuid)
  expect(cluster.calls('gantry_reason').map(({ node }) => node)).toEqual(['node1.gnt.example'])

  cluster.world.node('node1.gnt.example').instances.delete('inst6.gnt.example')
  await expect(cluster.failure('OP_INSTANCE_MIGRATE', { ...cleanup, target_node: 'node3' })).resolves.toEqual([
    'OpExecError',
    [expect.stringContaining('Instance does not seem to be running at all')],
  ])

  cluster.world.node('node2.gnt.example').instances.set('inst6.gnt.example', runtime)
  await cluster.run('OP_INSTANCE_MIGRATE', { ...cleanup, target_node: 'node3' })
  expect(cluster.config.instances[uuid ?? '']?.primary_node).toBe(cluster.node('node2').uuid)
  expect(cluster.log.slice(-5)).toEqual([
    '* instance running on unexpected node (node2.gnt.example), updating as the new secondary',
    '* instance running on secondary node (node2.gnt.example), updating config',
    '* closing instance disks on node node1.gnt.example',
    '* opening instance disks on node node2.gnt.example in exclusive mode',
    '* done',
  ])
})

test('a failover takes the steps of a real master', async () => {
  await cluster.run('OP_INSTANCE_FAILOVER', move)
  expect(cluster.log).toEqual([
    'Failover instance inst6.gnt.example',
    '* checking disk consistency between source and target',
    '* shutting down instance on source node',
    '* closing instance disks on node node3.gnt.example',
    "* deactivating the instance's disks on source node",
    "* activating the instance's disks on target node node1.gnt.example",
    '* starting the instance on the target node node1.gnt.example',
  ])
  expect(cluster.runningOn('inst6')).toEqual(['node1.gnt.example'])
  expect(cluster.instance('inst6')?.disks_active).toBe(true)
})

test('from a node that is offline the instance is brought up elsewhere, with a warning', async () => {
  cluster.change('patchNode', cluster.node('node3').uuid, { offline: true, master_candidate: false })
  cluster.world.node('node3.gnt.example').instances.clear()
  await cluster.run('OP_INSTANCE_FAILOVER', move)
  expect(cluster.log.join('\n')).toContain(
    'Could not shutdown instance inst6.gnt.example on node node3.gnt.example, proceeding anyway; please make sure node node3.gnt.example is down',
  )
  expect(cluster.runningOn('inst6')).toEqual(['node1.gnt.example'])
})

test('a guest that cannot be stopped is not started twice', async () => {
  cluster.answers.instance_shutdown = fail('no answer')
  await expect(cluster.failure('OP_INSTANCE_FAILOVER', move)).resolves.toEqual([
    'OpExecError',
    ['Could not shutdown instance inst6.gnt.example on node node3.gnt.example: no answer'],
  ])
  expect(primary()).toBe('node3.gnt.example')
  expect(cluster.calls('instance_start')).toEqual([])
})

test.each(['OP_INSTANCE_MIGRATE', 'OP_INSTANCE_FAILOVER'])(
  '%s killed at any node call never leaves two guests that both count',
  async (op) => {
    let killed = true
    for (let after = 1; killed; after++) {
      const fresh = simulatedCluster()
      killed = await fresh.runUntilKilled(op, move, after)
      expect(fresh.inconsistencies()).toEqual([])
      const running = fresh.runningOn('inst6')
      expect(running.length).toBeLessThanOrEqual(1)
      if (running.length === 0 || op === 'OP_INSTANCE_FAILOVER') continue
      // Cleanup repairs the state that was left.
      const fixed = fresh.config.instances[fresh.instance('inst6')?.uuid ?? '']
      const other = fixed?.primary_node === fresh.node('node1').uuid ? 'node3' : 'node1'
      fresh.table.owners.clear()
      fresh.table.locks.clear()
      await fresh.run('OP_INSTANCE_MIGRATE', { ...move, target_node: other, cleanup: true })
      expect(fresh.config.nodes[fresh.instance('inst6')?.primary_node ?? '']?.name).toBe(running[0])
    }
  },
)

describe('an instance that may have been left somewhere', () => {
  const noted = () => cluster.gantry.sections['unconfirmed']?.[cluster.instance('inst6')?.uuid ?? '']
  const start = () => cluster.run('OP_INSTANCE_STARTUP', { instance_name: 'inst6' })
  const silent = (name: string) => (node: { name: string }) => {
    if (node.name === name) throw new Error('no answer')
    return undefined
  }
  const crash = () => {
    for (const { name } of Object.values(cluster.config.nodes))
      cluster.world.node(name).instances.delete('inst6.gnt.example')
  }

  /** Fails over although its node does not answer. */
  async function leave(): Promise<void> {
    cluster.answers.instance_shutdown = silent('node3.gnt.example')
    await cluster.run('OP_INSTANCE_FAILOVER', { ...move, ignore_consistency: true })
    expect(noted()).toEqual([cluster.node('node3').uuid])
  }

  test('is not started while the node that was not stopped may still run it', async () => {
    await leave()
    crash()
    cluster.answers.instance_info = silent('node3.gnt.example')
    await expect(start()).rejects.toThrow(
      /inst6.* may still run on node node3\.gnt\.example, which does not tell .*--offline yes/,
    )
    cluster.given(change('patchNode', cluster.node('node3').uuid, { offline: true, master_candidate: false }))
    await expect(start()).resolves.toBeNull()
    expect(noted()).toEqual([cluster.node('node3').uuid])
  })

  test('nor while that node says that it runs there', async () => {
    await leave()
    const left = { state: 0, memory: 1, vcpus: 1, time: 0 }
    cluster.world.node('node1.gnt.example').instances.delete('inst6.gnt.example')
    cluster.answers.instance_info = ({ name }) => (name === 'node3.gnt.example' ? left : undefined)
    await expect(start()).rejects.toThrow(/still runs on node node3\.gnt\.example, .*--cleanup/)
  })

  test('is started when that node says that it does not, which is asked once', async () => {
    await leave()
    crash()
    await expect(start()).resolves.toBeNull()
    expect(noted()).toBeUndefined()
  })

  test('is not failed over to a third node while that node does not tell', async () => {
    await leave()
    cluster.answers.instance_info = silent('node3.gnt.example')
    const third = Object.values(cluster.config.nodes).find(({ name }) => !/node[13]\./.test(name))?.name
    await expect(
      cluster.run('OP_INSTANCE_FAILOVER', { instance_name: 'inst6', target_node: third, ignore_consistency: true }),
    ).rejects.toThrow(/may still run on node node3/)
  })

  test('a migration notes its target as long as it is under way', async () => {
    let during: unknown
    cluster.answers.instance_migrate = () => void (during = noted())
    await cluster.run('OP_INSTANCE_MIGRATE', move)
    expect([during, noted()]).toEqual([[cluster.node('node1').uuid], undefined])
  })

  test('and longer where the target does not say that it gave up', async () => {
    cluster.answers.instance_migrate = fail('no route')
    cluster.answers.instance_finalize_migration_dst = silent('node1.gnt.example')
    await expect(cluster.run('OP_INSTANCE_MIGRATE', move)).rejects.toThrow(/no route/)
    expect(noted()).toEqual([cluster.node('node1').uuid])
    await cluster.run('OP_INSTANCE_MIGRATE', { ...move, cleanup: true })
    expect(noted()).toBeUndefined()
  })

  test('is forgotten with the instance', async () => {
    await leave()
    cluster.answers = {}
    await cluster.run('OP_INSTANCE_REMOVE', { instance_name: 'inst6' })
    expect(cluster.gantry.sections['unconfirmed']).toBeUndefined()
  })
})
