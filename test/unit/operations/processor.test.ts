// The life of an opcode from its first lock to its last hook.
import { step } from '../../../src/locks/table'
import { JobCancelled } from '../../../src/operations/environment'
import { PeerError } from '../../../src/rpc/json-protocol'
import { systemClock } from '../../../src/lib/clock'
import { runOpcode } from '../../../src/operations/processor'
import type { ClientId } from '../../../src/rpc/wconfd/calls'
import type { HookResult } from '../../../src/rpc/node/dicts'
import { type FakeCluster, simulatedCluster } from '../../support/fake-cluster'

let cluster: FakeCluster
beforeEach(() => {
  cluster = simulatedCluster()
})

const other: ClientId = [3, '/livelock/3', 33]
const reason = [['gnt:test', 'why', 1]]

describe('OP_TEST_DELAY', () => {
  test('sleeps on master and nodes, under their locks', async () => {
    const nodes = ['node2.gnt.example', 'node3.gnt.example']
    await expect(
      cluster.run('OP_TEST_DELAY', { duration: 0.01, on_nodes: nodes, no_locks: false, repeat: 2 }),
    ).resolves.toBeNull()
    expect(cluster.calls('test_delay').map(({ node }) => node)).toEqual([...nodes, ...nodes])
    expect(cluster.log).toEqual([' - INFO: Test delay iteration 0/1', ' - INFO: Test delay iteration 1/1'])
    const uuids = ['node2', 'node3', 'node1'].map((name) => cluster.node(name).uuid)
    expect(cluster.lockRequests.flat()).toEqual([
      ['cluster/BGL', 'shared'],
      ...uuids.map((uuid) => [`node/${uuid}`, 'exclusive']),
    ])
  })

  test('a duration of nothing and an unknown node are refused', async () => {
    await expect(cluster.failure('OP_TEST_DELAY', { duration: 0 })).resolves.toEqual([
      'OpPrereqError',
      ['Duration must be greater than zero'],
    ])
    await expect(cluster.failure('OP_TEST_DELAY', { duration: 1, on_nodes: ['nosuch'] })).resolves.toEqual([
      'OpPrereqError',
      ["Node 'nosuch' not known", 'unknown_entity'],
    ])
    expect(cluster.table.owners.size).toBe(0)
  })

  test('a node that does not answer is named', async () => {
    cluster.answers.test_delay = () => {
      throw new Error('lost')
    }
    await expect(
      cluster.failure('OP_TEST_DELAY', { duration: 1, on_master: false, on_nodes: ['node2'] }),
    ).resolves.toEqual(['OpExecError', ['Failure during rpc call to node node2.gnt.example: lost']])
  })
})

describe('the life of an opcode', () => {
  test('it starts when it has all its locks, and holds none when it has ended, well or badly', async () => {
    const environment = cluster.environment()
    let held = 0
    const started = () => {
      held = cluster.table.owners.size
      return Promise.resolve()
    }
    await runOpcode({ OP_ID: 'OP_TEST_DELAY', reason, duration: 1 }, { ...environment, started })
    expect(held).toBe(1)
    expect(cluster.table.owners.size).toBe(0)
  })

  test('when the configuration daemon is lost, the error names what may be left, and the way out', async () => {
    const environment = cluster.environment()
    const { gantryChange } = environment.wconfd
    let changes = 0
    const wconfd: typeof environment.wconfd = {
      ...environment.wconfd,
      gantryChange: async (...args) => {
        const result = await gantryChange(...args)
        if (++changes === 2) throw new PeerError('wconfd closed the connection during a call', 'lost')
        return result
      },
    }
    const create = { OP_ID: 'OP_INSTANCE_CREATE', instance_name: 'e3', mode: 'create', disk_template: 'diskless' }
    const more = { disks: [], nics: [], os_type: 'noop', hypervisor: 'fake', pnode: 'node1', beparams: { memory: 32 } }
    await expect(runOpcode({ ...create, ...more, reason }, { ...environment, wconfd })).rejects.toThrow(
      "wconfd closed the connection during a call. What INSTANCE_CREATE(e3) did before stays as it is: 'gnt instance info e3' shows it; if it is there, keep it or take it away with 'gnt instance remove e3'",
    )
    expect(cluster.instance('e3')).toBeDefined()
    expect(cluster.table.owners.size).toBe(0)
  })

  test('while nothing is done yet, there is nothing to look for', async () => {
    const environment = cluster.environment()
    const away = new PeerError('it is not running here', 'unreachable')
    const wconfd = { ...environment.wconfd, gantryRead: () => Promise.reject(away) }
    const stop = { OP_ID: 'OP_INSTANCE_SHUTDOWN', instance_name: 'inst1', reason }
    await expect(runOpcode(stop, { ...environment, wconfd })).rejects.toBe(away)
  })

  test('parameters of the wrong kind are the submitter’s mistake', async () => {
    await expect(cluster.failure('OP_TEST_DELAY', { duration: 'long' })).resolves.toEqual([
      'OpPrereqError',
      ["Parameter 'OP_TEST_DELAY.duration' fails validation", 'wrong_input'],
    ])
  })

  test('an unknown opcode is refused, and no lock is taken', async () => {
    await expect(cluster.failure('OP_NOSUCH')).resolves.toEqual(['GenericError', ['There is no opcode OP_NOSUCH']])
    expect(cluster.lockRequests.flat()).toEqual([])
  })

  test('a job that was cancelled before does not start', async () => {
    cluster.cancel.abort()
    await expect(cluster.run('OP_TEST_DELAY', { duration: 1 })).rejects.toThrow(JobCancelled)
    expect(cluster.started).toBe(false)
  })

  test('a job that is cancelled while it waits takes its request back', async () => {
    step(cluster.table, {
      owner: other,
      at: 0,
      kind: 'update',
      request: [['cluster/BGL', 'exclusive']],
      priority: null,
    })
    const environment = cluster.environment()
    let refuse: (error: Error) => void = () => undefined
    let taken = false
    const wconfd = Object.assign(Object.create(environment.wconfd) as typeof environment.wconfd, {
      gantryAcquire: () => new Promise((_, reject) => (refuse = reject)),
      gantryCancelRequest: () => {
        taken = true
        refuse(new Error('the request was taken back'))
        return Promise.resolve(null)
      },
    })
    const running = runOpcode({ OP_ID: 'OP_TEST_DELAY', reason, duration: 1 }, { ...environment, wconfd })
    await systemClock.sleep(5)
    cluster.cancel.abort()
    await expect(running).rejects.toThrow(JobCancelled)
    expect(taken).toBe(true)
  })

  test('a new priority is told to whoever orders the waiting requests', async () => {
    const environment = cluster.environment()
    let grant: (epoch: { epoch: number }) => void = () => undefined
    let changed = () => undefined as void
    let watching = false
    const requested: unknown[] = []
    const wconfd = Object.assign(Object.create(environment.wconfd) as typeof environment.wconfd, {
      gantryAcquire: () => new Promise((resolve) => (grant = resolve)),
      updateLocksWaiting: (...args: unknown[]) => Promise.resolve(requested.push(args.slice(1))),
    })
    const onPriority = (action: () => void) => {
      changed = action
      watching = true
      return () => void (watching = false)
    }
    const changes = { wconfd, onPriority, priority: () => -7 }
    const running = runOpcode({ OP_ID: 'OP_TEST_DELAY', reason, duration: 1 }, { ...environment, ...changes })
    await systemClock.sleep(5)
    changed()
    expect(requested).toEqual([[-7, [['cluster/BGL', 'shared']]]])
    grant({ epoch: 1 })
    await running
    expect(watching).toBe(false)
  })

  test('a job that waits long is told who holds the lock, since when', async () => {
    const environment = cluster.environment()
    const waits: (() => void)[] = []
    let grant: (epoch: { epoch: number }) => void = () => undefined
    const wconfd = Object.assign(Object.create(environment.wconfd) as typeof environment.wconfd, {
      gantryAcquire: () => new Promise((resolve) => (grant = resolve)),
      gantryBlockers: () =>
        Promise.resolve([
          { lock: 'cluster/BGL', title: 'cluster/BGL', holders: [{ client: other, mode: 'exclusive', since: 1e9 }] },
        ]),
    })
    const clock = {
      ...environment.clock,
      after: (_delay: number, action: () => void) => {
        waits.push(action)
        return { cancel: () => undefined }
      },
    }
    const running = runOpcode({ OP_ID: 'OP_TEST_DELAY', reason, duration: 1 }, { ...environment, wconfd, clock })
    await systemClock.sleep(5)
    waits[0]?.()
    await systemClock.sleep(5)
    expect(cluster.log).toEqual([
      ' - INFO: Waiting for lock cluster/BGL, held by job 3 (exclusive since 2001-09-09T01:46:40.000Z)',
    ])
    grant({ epoch: 1 })
    await running
  })
})

describe('hooks', () => {
  const startup = { instance_name: 'inst4' }
  const answer = (path: string, phase: string, output: HookResult[]) =>
    (cluster.answers.hooks_runner = (_node, args) => (args[0] === path && args[1] === phase ? output : []))

  test('a script that fails after the opcode is only reported', async () => {
    answer('instance-start', 'post', [['instance-start-post.d/tell', 1, '']])
    await cluster.run('OP_INSTANCE_STARTUP', startup)
    expect(cluster.log).toContain(
      ' - WARNING: On node1.gnt.example script instance-start-post.d/tell failed, output: (no output)',
    )
  })

  test('no answer from any node before the opcode is a failure of the hooks', async () => {
    cluster.answers.hooks_runner = () => {
      throw new Error('unreachable')
    }
    await expect(cluster.failure('OP_INSTANCE_STARTUP', startup)).resolves.toEqual([
      'HooksFailure',
      ['Communication Failure'],
    ])
    expect(cluster.instance('inst4')?.admin_state).toBe('down')
  })

  test('config-update runs after an opcode that changed the configuration and then failed', async () => {
    cluster.answers.instance_start = () => {
      throw new Error('no')
    }
    await cluster.failure('OP_INSTANCE_STARTUP', startup)
    expect(cluster.calls('hooks_runner').at(-1)?.args.slice(0, 2)).toEqual(['config-update', 'post'])
  })

  test('an opcode that changes nothing runs none', async () => {
    await cluster.run('OP_TEST_DELAY', { duration: 1 })
    expect(cluster.calls('hooks_runner')).toEqual([])
  })
})
