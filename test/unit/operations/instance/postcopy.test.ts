// Migrations that switch to post-copy. From then on the guest runs on the target, and the rest of its memory is on the source.
import type { InstanceRuntime } from '../../../../src/rpc/node/dicts'
import { type FakeCluster, simulatedCluster } from '../../../support/fake-cluster'

const SOURCE = 'node3.gnt.example'
const TARGET = 'node1.gnt.example'
const move = { instance_name: 'inst6.gnt.example', target_node: TARGET }
const cleanup = { ...move, cleanup: true }
const RUNS = { memory: 128, vcpus: 1, state: 0, time: 0 }

let cluster: FakeCluster
/** The machine that each node shows. */
let machines: Record<string, InstanceRuntime | undefined>
beforeEach(() => {
  cluster = simulatedCluster()
  const uuid = String(cluster.instance('inst6')?.uuid)
  cluster.change('patchInstance', uuid, { hypervisor: 'kvm', hvparams: { migration_caps: 'postcopy-ram' } })
  machines = { [SOURCE]: RUNS, [TARGET]: RUNS }
  cluster.answers.instance_info = ({ name }) => machines[name] ?? {}
  cluster.answers.instance_list = ({ name }) => (machines[name] === undefined ? [] : ['inst6.gnt.example'])
})
afterEach(() => expect(cluster.table.owners.size).toBe(0))

type Status = { status: string; transferred_ram?: number; switched?: boolean }
/** The states of the source, one for each question; the last one stays. */
function states(...reported: Status[]): void {
  let next = 0
  cluster.answers.gantry_migration_status = ({ name }) =>
    name === SOURCE ? reported[Math.min(next++, reported.length - 1)] : { status: 'postcopy-paused' }
}
const after = (status: string, transferred_ram = 1) => ({ status, transferred_ram, switched: true })
const failure = async (op: object = move) => String(((await cluster.failure('OP_INSTANCE_MIGRATE', { ...op })) as [string, string[]])[1]) // prettier-ignore
const ends = (call: 'instance_finalize_migration_src' | 'instance_finalize_migration_dst') =>
  cluster.calls(call).map(({ node, args }) => [node, args.at(call.endsWith('src') ? 1 : 2)])
const noted = () => Object.values(cluster.gantry.sections['unconfirmed'] ?? {})
const primary = () => cluster.config.nodes[cluster.instance('inst6')?.primary_node ?? '']?.name
const stopped = () => cluster.calls('instance_shutdown').map(({ node, args }) => [node, args[1]])

/** Nobody was told to end or to resume anything. */
function keptBoth(): void {
  expect(ends('instance_finalize_migration_src')).toEqual([])
  expect(ends('instance_finalize_migration_dst')).toEqual([])
  expect(stopped()).toEqual([])
  expect(primary()).toBe(SOURCE)
  expect(noted()).toEqual([[cluster.node('node1').uuid]])
}

test.each(['postcopy-active', 'postcopy-recover', 'postcopy-device', 'a state of a later QEMU'])(
  'in state %s the source is not ended before everything has arrived',
  async (status) => {
    const active = { status, transferred_ram: 1 }
    states({ status: 'active' }, active, active, active, { status: 'completed' })
    const requested = () => cluster.calls('gantry_migration_status').length
    let askedAtEnd = 0
    cluster.answers.instance_finalize_migration_src = () => void (askedAtEnd = requested())
    await cluster.run('OP_INSTANCE_MIGRATE', move)
    expect(askedAtEnd).toBe(5)
    expect(ends('instance_finalize_migration_src')).toEqual([[SOURCE, true]])
    expect(primary()).toBe(TARGET)
  },
)

test('sides that have lost each other are connected again, the target first', async () => {
  states({ status: 'active' }, after('postcopy-active'), after('postcopy-paused'), after('postcopy-active', 2), {
    status: 'completed',
    switched: true,
  })
  await cluster.run('OP_INSTANCE_MIGRATE', move)
  const { secondary_ip } = cluster.node('node1')
  expect(cluster.calls('gantry_migration_recover').map(({ node, args }) => [node, ...args.slice(1)])).toEqual([
    [TARGET, secondary_ip, 'target'],
    [SOURCE, secondary_ip, 'source'],
  ])
  expect(primary()).toBe(TARGET)
})

test('sides that do not find each other are both kept, and a person is told', async () => {
  states(after('postcopy-paused'))
  cluster.answers.gantry_migration_recover = () => {
    throw new Error('no route')
  }
  await expect(failure()).resolves.toMatch(/no route.*both are kept.*gnt-instance migrate --cleanup inst6/s)
  keptBoth()
  expect(cluster.calls('gantry_migration_recover').length).toBeLessThan(200)
})

test('a switched migration that stands still is interrupted and goes on', async () => {
  let recovered = false
  cluster.answers.gantry_migration_recover = () => void (recovered = true)
  cluster.answers.gantry_migration_status = () =>
    recovered ? { status: 'completed', switched: true } : after('postcopy-active')
  await cluster.run('OP_INSTANCE_MIGRATE', move)
  expect(primary()).toBe(TARGET)
})

test('a source that does not answer any more after the switch is left alone', async () => {
  let requested = 0
  cluster.answers.gantry_migration_status = () => {
    if (requested++ < 2) return after('postcopy-active')
    throw new Error('hung up')
  }
  await expect(failure()).resolves.toMatch(/hung up.*both are kept/s)
  keptBoth()
})

test.each(['during the transfer', 'when the job was killed'])(
  'a guest whose target is gone is lost, and only ended: %s',
  async (when) => {
    states(after('postcopy-paused'))
    machines[TARGET] = undefined
    const op = when === 'during the transfer' ? move : cleanup
    await expect(failure(op)).resolves.toMatch(
      /The memory of instance inst6.* is lost.*Its disks are safe.*gnt-instance start/s,
    )
    expect(stopped()).toContainEqual([SOURCE, 0])
    expect(ends('instance_finalize_migration_src')).toEqual([])
    expect(primary()).toBe(SOURCE)
    expect(noted()).toEqual([])
  },
)

test('a target that does not say that it is gone may still have the guest', async () => {
  states(after('postcopy-paused'))
  cluster.answers.gantry_migration_recover = () => {
    throw new Error('no route')
  }
  cluster.answers.instance_info = ({ name }) => {
    if (name === TARGET) throw new Error('no answer')
    return RUNS
  }
  await expect(failure()).resolves.toMatch(/both are kept/)
  keptBoth()
})

test.each([move, cleanup])('what a killed job has left after the switch goes on: %#', async (op) => {
  cluster.change('setGantry', 'unconfirmed', String(cluster.instance('inst6')?.uuid), [cluster.node('node1').uuid])
  states(after('postcopy-paused'), after('postcopy-paused'), after('postcopy-paused'), {
    status: 'completed',
    switched: true,
  })
  await cluster.run('OP_INSTANCE_MIGRATE', op)
  expect(cluster.calls('accept_instance')).toEqual([])
  expect(ends('instance_finalize_migration_src')).toEqual([[SOURCE, true]])
  expect(ends('instance_finalize_migration_dst')).toEqual([[TARGET, true]])
  expect(primary()).toBe(TARGET)
})

test('a guest that has arrived when its job was killed is not dropped for the source', async () => {
  machines[SOURCE] = { ...RUNS, machine_state: 'postmigrate' }
  states({ status: 'completed' })
  await cluster.run('OP_INSTANCE_MIGRATE', cleanup)
  expect(ends('instance_finalize_migration_src')).toEqual([[SOURCE, true]])
  expect(primary()).toBe(TARGET)
})

test('a cleanup ends a target that still waits for the guest of a source which is gone', async () => {
  machines = { [TARGET]: { ...RUNS, machine_state: 'inmigrate' } }
  await expect(failure(cleanup)).resolves.toMatch(/did not bring it to node node1.*gnt-instance start/)
  expect(ends('instance_finalize_migration_dst')).toEqual([[TARGET, false]])
  expect(primary()).toBe(SOURCE)
})

test('a cancelled job stops a migration that has not switched yet', async () => {
  states({ status: 'active', transferred_ram: 1 })
  cluster.answers.instance_migrate = () => void cluster.cancel.abort()
  await expect(cluster.run('OP_INSTANCE_MIGRATE', move)).rejects.toThrow('Job canceled by request')
  expect(ends('instance_finalize_migration_src')[0]).toEqual([SOURCE, false])
  expect(ends('instance_finalize_migration_dst')).toEqual([[TARGET, false]])
  expect(primary()).toBe(SOURCE)
})

test('a cancel after the switch comes too late', async () => {
  cluster.answers.instance_migrate = () => void cluster.cancel.abort()
  states(after('postcopy-active'), after('postcopy-active', 2), { status: 'completed', switched: true })
  await cluster.run('OP_INSTANCE_MIGRATE', move)
  expect(primary()).toBe(TARGET)
})

test('a migration that transfers nothing is given up', async () => {
  states({ status: 'active', transferred_ram: 5 })
  await expect(failure()).resolves.toMatch(/no memory was transferred for \d+ seconds/)
  expect(ends('instance_finalize_migration_src')[0]).toEqual([SOURCE, false])
})

test('a start ends the machine that gave its guest away, after every node has said that the guest is nowhere', async () => {
  const start = { instance_name: 'inst6.gnt.example' }
  machines[SOURCE] = { ...RUNS, machine_state: 'finish-migrate' }
  await expect(cluster.failure('OP_INSTANCE_STARTUP', start)).resolves.toEqual([
    'OpPrereqError',
    [expect.stringMatching(/still runs on node node1/), 'wrong_state'],
  ])
  expect(stopped()).toEqual([])
  machines[TARGET] = undefined
  await cluster.run('OP_INSTANCE_STARTUP', start)
  expect(stopped()).toEqual([[SOURCE, 0]])
  expect(cluster.calls('instance_start').map(({ node }) => node)).toEqual([SOURCE])
})

test('a failover from a node that is off does not take a guest with a part of its memory for a running one', async () => {
  cluster.change('setGantry', 'unconfirmed', String(cluster.instance('inst6')?.uuid), [cluster.node('node1').uuid])
  cluster.change('patchNode', cluster.node('node3').uuid, { offline: true })
  states({ status: 'postcopy-paused' })
  await cluster.run('OP_INSTANCE_FAILOVER', { ...move, ignore_consistency: true })
  expect(stopped()).toContainEqual([TARGET, 0])
  expect(primary()).toBe(TARGET)
})

test('both nodes use TLS if both can, and the job says when they do not', async () => {
  const able = new Set([SOURCE])
  cluster.answers.gantry_migration_tls = ({ name }) => able.has(name)
  states({ status: 'failed' })
  await failure()
  expect(cluster.log.join()).toContain(`The memory is sent without encryption, since TLS is not possible on ${TARGET}`)
  expect(cluster.calls('instance_migrate')).toHaveLength(1)
  able.add(TARGET)
  cluster.asked.length = 0
  states({ status: 'completed' })
  await cluster.run('OP_INSTANCE_MIGRATE', move)
  expect(cluster.calls('instance_migrate')).toEqual([])
  const { secondary_ip } = cluster.node('node1')
  const [accepted] = cluster.calls('gantry_migration_accept')
  expect([accepted?.node, accepted?.args[2]]).toEqual([TARGET, secondary_ip])
  expect(cluster.calls('gantry_migration_send').map(({ node, args }) => [node, ...args.slice(1)])).toEqual([
    [SOURCE, secondary_ip, true],
  ])
})

test('a target that is held up by a stranger is ended once its source goes on', async () => {
  cluster.answers.gantry_migration_tls = () => true
  states({ status: 'failed' })
  cluster.answers.instance_finalize_migration_dst = () => {
    throw new Error('QEMU did not answer')
  }
  await expect(failure()).resolves.toMatch(/Could not migrate instance/)
  expect(stopped()).toEqual([[TARGET, 0]])
  expect(noted()).toEqual([])
})
