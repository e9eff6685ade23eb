// Rounds over a memory that two daemons could share: what is submitted is known again after any death, and nothing is done twice.
import { applyChange } from '../../../src/config/changes'
import { EMPTY_GANTRY } from '../../../src/config/upgrade'
import { silentLog } from '../../../src/lib/log'
import { seededRandom } from '../../../src/lib/random'
import { Claims } from '../../../src/maintenance/claims'
import { observe } from '../../../src/maintenance/event-lifecycle'
import { StateStore } from '../../../src/maintenance/state-store'
import type { RoundPlan } from '../../../src/maintenance/plan-round'
import type { PlannedJob } from '../../../src/maintenance/planned-job'
import { Rounds } from '../../../src/maintenance/rounds'
import { PRECEDING_FAILED } from '../../../src/model/constants/jobs'
import type { Documents, GantryData } from '../../../src/model/config'
import { canceledEvent, MAINTENANCE_DEFAULTS, MAINTENANCE, outlookOf } from '../../../src/model/maintenance'
import { change } from '../../../src/config/changes'
import { smallConfig } from '../config/builders'
import { clockAt } from '../../support/instant-clock'

type Job = { ops: readonly Record<string, unknown>[]; status: string; opresult?: unknown[] }

class World {
  gantry: GantryData = EMPTY_GANTRY
  readonly jobs: Job[] = []
  readonly tags: string[] = []
  planned: RoundPlan = { jobs: [], notes: [] }
  plans = 0
  /** The daemon dies before or after its jobs reach the queue. */
  dies: 'before' | 'after' | undefined
  onSubmit: () => void = () => undefined
  private readonly listeners = new Set<() => void>()
  readonly clock = clockAt(1e12)
  readonly random = seededRandom(1)
  readonly claims = new Claims()
  /** Instances of balance moves that failed. */
  readonly failed: string[] = []

  daemon() {
    const memory = new StateStore({
      clock: this.clock,
      gantry: () => this.gantry,
      onChange: (listener) => {
        this.listeners.add(listener)
        return () => void this.listeners.delete(listener)
      },
      wconfd: {
        gantryChange: async (_client, _epoch, changes) => {
          let documents: Documents = { config: smallConfig(), gantry: this.gantry }
          for (const one of changes)
            documents = applyChange(documents, one, { now_s: 1, random: this.random }).documents
          this.gantry = documents.gantry
          for (const listener of [...this.listeners]) listener()
          return changes.map(() => null)
        },
      },
    })
    const rounds = new Rounds({
      ...{
        memory,
        clock: this.clock,
        random: this.random,
        log: silentLog,
        claims: this.claims,
        failedMoves: { note: ({ instances }) => void this.failed.push(...instances) },
        tagsOf: () => this.tags,
      },
      plan: async () => {
        this.plans++
        return this.planned
      },
      master: {
        queryJobs: async (ids, fields) => {
          const rows = ids === null ? this.jobs.map((_, at) => at + 1) : ids.map(Number)
          return rows.map((id) => {
            const job = this.jobs[id - 1]
            const values: Record<string, unknown> = { id, ...job }
            return job === undefined ? null : fields.map((field) => values[field])
          })
        },
        submitManyJobs: async (jobs) => {
          if (this.dies === 'before') throw new Error('killed')
          this.onSubmit()
          const ids = jobs.map((ops) => this.jobs.push({ ops, status: 'queued' }))
          if (this.dies === 'after') throw new Error('killed')
          return ids.map((id) => [true, id])
        },
      },
    })
    return { memory, rounds }
  }

  async note(status = 'evacuate') {
    const { memory } = this.daemon()
    const after = await memory.update((now) => ({
      ...now,
      events: observe(now.events, new Map([['n1', { status }]]), { now_s: 1, newId: () => 'e1' }).events,
    }))
    return after.events[0]
  }

  get event() {
    return this.daemon().memory.read().events[0]
  }
}

const job = (more: Partial<PlannedJob> = {}): PlannedJob => ({
  ...{ kind: 'drain', event: 'e1', text: 'drains', nodes: ['n1'], instances: [] },
  ops: [{ OP_ID: 'OP_NODE_SET_PARAMS', node_name: 'n1' }],
  ...more,
})

test('a round is written down, submitted with its reason, followed, and ended', async () => {
  const world = new World()
  await world.note()
  world.planned = { jobs: [job()], notes: [['e1', null]] }
  const { rounds } = world.daemon()
  expect(await rounds.step()).toBe('waits')
  expect(world.event).toMatchObject({ status: 'pending', jobs: [1] })
  const [[source, text]] = world.jobs[0]?.ops[0]?.['reason'] as [[string, string]]
  expect([source, text]).toEqual(['gnt:daemon:maintd', expect.stringMatching(/^event e1: drains \(round \S+\/0\)$/)])
  expect(await rounds.step()).toBe('waits')
  expect(world.plans).toBe(1)
  for (const one of world.jobs) one.status = 'success'
  expect(await rounds.step()).toBe('acted')
  expect(world.event?.status).toBe('pending')
  expect(world.daemon().memory.read().round).toBeNull()
})

test('a daemon that dies after it has submitted is followed by one that finds the jobs', async () => {
  const world = new World()
  await world.note()
  world.planned = { jobs: [job(), job({ event: null, kind: 'balance', text: 'moves', nodes: ['n2'] })], notes: [] }
  world.dies = 'after'
  await expect(world.daemon().rounds.step()).rejects.toThrow('killed')
  world.dies = undefined
  expect(await world.daemon().rounds.step()).toBe('waits')
  expect(world.jobs).toHaveLength(2)
  expect(world.event?.jobs).toEqual([1])
  for (const one of world.jobs) one.status = 'success'
  expect(await world.daemon().rounds.step()).toBe('acted')
})

test('a daemon that dies before it has submitted is followed by one that plans anew', async () => {
  const world = new World()
  await world.note()
  world.planned = { jobs: [job()], notes: [] }
  world.dies = 'before'
  await expect(world.daemon().rounds.step()).rejects.toThrow('killed')
  world.dies = undefined
  expect(await world.daemon().rounds.step()).toBe('failed')
  expect(world.jobs).toHaveLength(0)
  expect(await world.daemon().rounds.step()).toBe('waits')
  expect(world.jobs).toHaveLength(1)
})

test('an event that is canceled before its jobs are submitted gets none', async () => {
  const world = new World()
  const event = await world.note()
  world.planned = { jobs: [job()], notes: [] }
  const daemon = world.daemon()
  const plan = daemon.rounds.step()
  // While the plan is made.
  await world.daemon().memory.update((now) => ({ ...now, events: now.events.map((one) => canceledEvent(one, 2)) }))
  expect(await plan).toBe('acted')
  expect(event?.status).toBe('noted')
  expect(world.jobs).toHaveLength(0)
  expect(world.event?.status).toBe('canceled')
})

test('an event that is canceled while its jobs are submitted stays canceled, and its jobs are known', async () => {
  const world = new World()
  await world.note()
  world.planned = { jobs: [job()], notes: [] }
  let canceling: Promise<unknown> = Promise.resolve()
  world.onSubmit = () => {
    canceling = world
      .daemon()
      .memory.update((now) => ({ ...now, events: now.events.map((one) => canceledEvent(one, 2)) }))
  }
  const { rounds } = world.daemon()
  await rounds.step()
  await canceling
  expect(world.event).toMatchObject({ status: 'canceled', jobs: [1] })
  for (const one of world.jobs) one.status = 'error'
  expect(await rounds.step()).toBe('failed')
  expect(world.event?.status).toBe('canceled')
})

test('two daemons at the same time begin one round', async () => {
  const world = new World()
  await world.note()
  world.planned = { jobs: [job()], notes: [] }
  await Promise.all([world.daemon().rounds.step(), world.daemon().rounds.step()])
  expect(world.jobs).toHaveLength(1)
})

test('moves for a balance that fail or are refused are noted, and no others', async () => {
  const world = new World()
  const balance = (name: string) => job({ kind: 'balance', event: null, instances: [name], nodes: [name] })
  world.planned = { jobs: [balance('good'), balance('bad'), job({ event: null, instances: ['other'] })], notes: [] }
  const { rounds } = world.daemon()
  expect(await rounds.step()).toBe('waits')
  world.jobs.forEach((one, at) => (one.status = at === 0 ? 'success' : 'error'))
  expect(await rounds.step()).toBe('failed')
  expect(world.failed).toEqual(['bad'])
})

test('a job that fails ends the event, which tells why', async () => {
  const world = new World()
  await world.note()
  world.planned = { jobs: [job()], notes: [] }
  const { rounds } = world.daemon()
  await rounds.step()
  for (const one of world.jobs)
    Object.assign(one, {
      ...{ status: 'error', opresult: [true, ['OpExecError', ['the fan is stuck']], PRECEDING_FAILED] },
    })
  expect(await rounds.step()).toBe('failed')
  expect(world.event).toMatchObject({ status: 'failed', tag: 'maintd:repairfailed:e1' })
  expect(world.event?.note).toBe('job 1 failed: the fan is stuck; nothing more is done about it')
})

test('the tag of a repair names its job, and is set once', async () => {
  const world = new World()
  const repair = job({ kind: 'repair', event: null, instances: ['vm1'], tagLater: 'pending:failover:{id}:1:{}' })
  world.planned = { jobs: [repair], notes: [] }
  await world.daemon().rounds.step()
  expect(world.jobs[1]?.ops[0]).toMatchObject({ OP_ID: 'OP_TAGS_SET', kind: 'instance', name: 'vm1' })
  expect(world.jobs[1]?.ops[0]?.['tags']).toEqual([expect.stringMatching(/^pending:failover:[0-9a-f-]{36}:1:1$/)])
  await world.daemon().rounds.step()
  expect(world.jobs).toHaveLength(2)
})

test('a dry run tells what would be done, and does nothing', async () => {
  const world = new World()
  await world.note()
  const { memory, rounds } = world.daemon()
  await memory.put('unused', null)
  world.gantry = applyChange(
    { config: smallConfig(), gantry: world.gantry },
    change('setGantry', MAINTENANCE.settings, 'dry_run', true),
    { now_s: 1, random: world.random },
  ).documents.gantry
  world.planned = { jobs: [job()], notes: [['e1', null]] }
  expect(await rounds.step()).toBe('idle')
  expect(world.jobs).toHaveLength(0)
  expect(outlookOf(world.gantry)).toEqual(['drains'])
  expect(world.event).toMatchObject({ status: 'noted', note: 'dry run, else: drains' })
  expect(MAINTENANCE_DEFAULTS.dry_run).toBe(false)
})
