// Events of instances tell each change once, by its job or by its node.
import type { Delta } from '../../../../src/config/delta'
import { recordSet } from '../../../../src/config/records'
import type { Job } from '../../../../src/jobs/job'
import type { Instance } from '../../../../src/model/config'
import type { NewEvent } from '../../../../src/services/events/event-history'
import { InstanceWatch } from '../../../../src/services/events/instance-watch'
import { NodeCache } from '../../../../src/services/live-data/node-cache'
import { goldenConfig } from '../../../support/golden-query'
import { SteppedClock } from '../../../support/stepped-clock'

const RUNTIME = { memory: 128, vcpus: 1, state: 0, time: 0 }
const golden = goldenConfig()
const vm = Object.values(golden.instances).find(({ admin_state }) => admin_state === 'up') as Instance
const other = Object.values(golden.nodes).find(({ uuid }) => uuid !== vm.primary_node)
if (other === undefined) throw new Error('the recorded cluster has one node only')
const nameOf = (uuid: string) => golden.nodes[uuid]?.name

function start() {
  const clock = new SteppedClock()
  const known = new NodeCache(clock)
  const events: NewEvent[] = []
  const jobs = new Map<number, Job>()
  const probes: string[] = []
  const state = { config: golden }
  const queue = { job: (id: number) => jobs.get(id), all: () => [...jobs.values()] }
  const config = () => state.config
  const add = (event: NewEvent) => void events.push(event)
  const watch = new InstanceWatch({ queue, clock, known, config, add, look: (node) => probes.push(node) })
  const reported = () => events.splice(0).map(({ data }) => data)
  /** The primary node tells whether it runs. */
  const observed = async (running: boolean) => {
    await clock.pass(1)
    known.learnRunning(vm.primary_node, running ? { [vm.name]: RUNTIME } : {}, clock.monotonic_ms())
  }
  const step = (id: number, opcode: string, status: string, more = {}) => {
    const reason = [['gantry:user', 'anna', 1]]
    const input = { OP_ID: opcode, instance_name: vm.name, reason, ...more }
    const job = { id, ops: [{ input, status, log: [] }] } as unknown as Job
    watch.job(job, jobs.get(id))
    jobs.set(id, job)
  }
  const change = (instance: Instance | null, askers: number[] = []) => {
    const before = state.config
    state.config = { ...before, instances: recordSet(before.instances, vm.uuid, instance ?? undefined) }
    const delta: Delta = { from: 1, to: 2, mtime: 1, instances: { [vm.uuid]: instance }, askers }
    watch.follow(before, state.config, delta)
  }
  return { clock, known, looks: probes, told: reported, seen: observed, step, change }
}

const by = (job: number, opcode: string) => ({ job, opcode, user: 'anna', token: null })

test('an instance that is seen for the first time is no event; an end without a job is a crash, told once', async () => {
  const { told: reported, seen: observed } = start()
  await observed(true)
  expect(reported()).toEqual([])
  await observed(false)
  await observed(false)
  expect(reported()).toMatchObject([
    { change: 'crashed', instance: vm.name, before: { running: true }, now: { running: false }, cause: null },
  ])
  await observed(true)
  expect(reported()).toMatchObject([{ change: 'started', cause: null }])
})

test('the change by a job is told with its user when it has ended, and not again when the node tells it', async () => {
  const { told: reported, seen: observed, step, known } = start()
  await observed(true)
  step(7, 'OP_INSTANCE_SHUTDOWN', 'running')
  await observed(false)
  expect(reported()).toEqual([])
  step(7, 'OP_INSTANCE_SHUTDOWN', 'success')
  expect(reported()).toMatchObject([{ change: 'stopped', cause: by(7, 'OP_INSTANCE_SHUTDOWN') }])
  await observed(false)
  step(8, 'OP_INSTANCE_STARTUP', 'running')
  step(8, 'OP_INSTANCE_STARTUP', 'success')
  expect(reported()).toMatchObject([{ change: 'started', cause: by(8, 'OP_INSTANCE_STARTUP') }])
  expect(known.runningOn(vm.primary_node)).toHaveProperty([vm.name])
  await observed(true)
  expect(reported()).toEqual([])
  await observed(false)
  expect(reported()).toMatchObject([{ change: 'crashed', cause: null }])
})

test('an answer to a question that was asked before a job ended does not count', async () => {
  const { told: reported, seen: observed, step, clock, known } = start()
  await observed(true)
  const asked_ms = clock.monotonic_ms()
  step(7, 'OP_INSTANCE_SHUTDOWN', 'running')
  await clock.pass(1)
  step(7, 'OP_INSTANCE_SHUTDOWN', 'success')
  reported()
  known.learnRunning(vm.primary_node, { [vm.name]: RUNTIME }, asked_ms)
  expect(reported()).toEqual([])
})

test("after a job that failed the node is asked, and what it tells is the job's", async () => {
  const { told: reported, seen: observed, step, looks: probes } = start()
  await observed(true)
  step(7, 'OP_INSTANCE_REBOOT', 'running')
  step(7, 'OP_INSTANCE_REBOOT', 'error')
  expect(probes).toEqual([vm.primary_node])
  await observed(false)
  expect(reported()).toMatchObject([{ change: 'stopped', cause: by(7, 'OP_INSTANCE_REBOOT') }])
})

test('a job that changed nothing is no event', async () => {
  const { told: reported, seen: observed, step, change } = start()
  await observed(true)
  step(7, 'OP_INSTANCE_SHUTDOWN', 'running', { dry_run: true })
  step(7, 'OP_INSTANCE_SHUTDOWN', 'success', { dry_run: true })
  expect(reported()).toEqual([])
  change(vm)
  await observed(true)
  expect(reported()).toEqual([])
})

test('an instance that got another name is watched on', async () => {
  const { told: reported, seen: observed, step, change, known, clock } = start()
  await observed(false)
  step(7, 'OP_INSTANCE_RENAME', 'running')
  change({ ...vm, name: 'renamed.test' })
  step(7, 'OP_INSTANCE_RENAME', 'success')
  await clock.pass(1)
  known.learnRunning(vm.primary_node, { 'renamed.test': RUNTIME }, clock.monotonic_ms())
  expect(reported()).toMatchObject([{ change: 'started', instance: 'renamed.test' }])
})

test('a migration, a removal and a creation follow from the configuration', async () => {
  const { told: reported, seen: observed, step, change } = start()
  await observed(true)
  step(7, 'OP_INSTANCE_MIGRATE', 'running')
  change({ ...vm, primary_node: other.uuid }, [7])
  expect(reported()).toMatchObject([
    {
      change: 'migrated',
      before: { running: true, node: nameOf(vm.primary_node) },
      now: { running: true, node: other.name },
      cause: by(7, 'OP_INSTANCE_MIGRATE'),
    },
  ])
  change(null)
  expect(reported()).toMatchObject([{ change: 'removed', now: null, cause: null }])
  change({ ...vm, forthcoming: true })
  expect(reported()).toEqual([])
  change(vm)
  expect(reported()).toMatchObject([{ change: 'created', before: null, now: { running: false } }])
})

/** The instance is not there, and its node has told so. */
async function withoutIt() {
  const world = start()
  world.change(null)
  await world.seen(false)
  world.told()
  return world
}
const made = { ...vm, admin_state: 'up' as const }

test('an instance that has moved runs where it is, also if its node was asked before it had arrived', async () => {
  const { clock, known, seen: observed, step, change, told: reported } = start()
  await observed(true)
  step(7, 'OP_INSTANCE_MIGRATE', 'running')
  change({ ...vm, primary_node: other.uuid }, [7])
  await clock.pass(1)
  known.learnRunning(other.uuid, {}, clock.monotonic_ms())
  expect(known.runningOn(other.uuid)).toEqual({})
  const asked_ms = clock.monotonic_ms()
  await clock.pass(1)
  step(7, 'OP_INSTANCE_MIGRATE', 'success')
  expect(known.runningOn(other.uuid)).toHaveProperty([vm.name])
  // An answer that was still on its way does not count either.
  known.learnRunning(other.uuid, {}, asked_ms)
  expect(known.runningOn(other.uuid)).toHaveProperty([vm.name])
  expect(reported()).toMatchObject([{ change: 'migrated' }])
  await clock.pass(1)
  known.learnRunning(other.uuid, {}, clock.monotonic_ms())
  expect(reported()).toMatchObject([{ now: { running: false } }])
})

test('an instance that its node tells of before the job that creates it has ended is started by this job', async () => {
  const { told: reported, seen: observed, step, change } = await withoutIt()
  step(7, 'OP_INSTANCE_CREATE', 'running')
  change({ ...made, forthcoming: true }, [7])
  change(made, [7])
  await observed(true)
  expect(reported()).toMatchObject([{ change: 'created', cause: by(7, 'OP_INSTANCE_CREATE') }])
  step(7, 'OP_INSTANCE_CREATE', 'success')
  await observed(true)
  expect(reported()).toMatchObject([{ change: 'started', cause: by(7, 'OP_INSTANCE_CREATE') }])
  await observed(false)
  expect(reported()).toMatchObject([{ change: 'crashed', cause: null }])
})

test('an instance that the configuration tells of after the job that created it has ended is started by this job', async () => {
  const { told: reported, seen: observed, step, change } = await withoutIt()
  step(7, 'OP_INSTANCE_CREATE', 'running')
  step(7, 'OP_INSTANCE_CREATE', 'success')
  change(made, [7])
  await observed(true)
  expect(reported()).toMatchObject([
    { change: 'created', cause: by(7, 'OP_INSTANCE_CREATE') },
    { change: 'started', cause: by(7, 'OP_INSTANCE_CREATE') },
  ])
})

test('what is done to a reservation is no event; a commit makes the instance and starts it', async () => {
  const { told: reported, seen: observed, step, change } = await withoutIt()
  const reserved = { ...made, admin_state: 'down' as const, forthcoming: true as const, disks_active: false }
  step(7, 'OP_INSTANCE_CREATE', 'running', { forthcoming: true })
  change(reserved, [7])
  step(7, 'OP_INSTANCE_CREATE', 'success', { forthcoming: true })
  step(8, 'OP_INSTANCE_FAILOVER', 'running')
  change({ ...reserved, primary_node: other.uuid }, [8])
  step(8, 'OP_INSTANCE_FAILOVER', 'success')
  change(reserved)
  await observed(false)
  expect(reported()).toEqual([])
  step(9, 'OP_INSTANCE_CREATE', 'running', { commit: true })
  change({ ...reserved, disks_active: true }, [9])
  change(made, [9])
  step(9, 'OP_INSTANCE_CREATE', 'success', { commit: true })
  await observed(true)
  const cause = by(9, 'OP_INSTANCE_CREATE')
  expect(reported()).toMatchObject([
    { change: 'created', cause },
    { change: 'started', cause },
  ])
})

test('a reservation that is given back is no event, and neither is what was refused to do with it', async () => {
  const { told: reported, step, change } = await withoutIt()
  change({ ...made, forthcoming: true, disks_active: false }, [7])
  step(8, 'OP_INSTANCE_STARTUP', 'running')
  step(8, 'OP_INSTANCE_STARTUP', 'error')
  change(null)
  expect(reported()).toEqual([])
})
