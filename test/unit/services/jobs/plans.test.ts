// Plans belong to their user, are bounded, and expire.
import { EMPTY_GANTRY } from '../../../../src/config/upgrade'
import { systemClock } from '../../../../src/lib/clock'
import { silentLog } from '../../../../src/lib/log'
import { timeText } from '../../../../src/lib/text/rfc3339'
import { seededRandom } from '../../../../src/lib/random'
import {
  PLAN_S,
  PLANS_PER_USER_MAX,
  PLANS_RUNNING_MAX,
  PLANS_RUNNING_PER_USER_MAX,
} from '../../../../src/model/limits/plans'
import { NO_ANSWER, type NodeClient, type NodeTarget } from '../../../../src/rpc/node/client'
import type { Planned } from '../../../../src/rpc/luxi/plan'
import { Access } from '../../../../src/services/access/access'
import type { MasterContext } from '../../../../src/services/master-context'
import { Plans } from '../../../../src/services/jobs/plans'
import { goldenConfig } from '../../../support/golden-query'

const config = goldenConfig()
const user = (name: string) => ({ user: name, token: null, permissions: ['*'] })
const ops = [{ OP_ID: 'OP_INSTANCE_STARTUP', instance_name: 'inst1.gnt.example' }]
const read = { kind: 'instance', uuid: 'u1', serial_no: 3, name: 'inst1.gnt.example' } as const

function plansAt(clock: { ms: number }, make: MasterContext['planJob']): Plans {
  const now = { now_ms: () => clock.ms, monotonic_ms: () => clock.ms, after: () => ({ cancel: () => undefined }) }
  const context: Partial<MasterContext> = {
    ...{ config: () => config, gantry: () => EMPTY_GANTRY, random: seededRandom(1), log: silentLog },
    clock: { ...now, sleep: async () => undefined },
    planJob: make,
  }
  return new Plans(context as MasterContext)
}

const opcode = {
  ...{ OP_ID: 'OP_INSTANCE_STARTUP', summary: '', possible: true, locks: [], prerequisites: [], messages: [] },
  ...{ hooks: null, changes: [], changes_complete: true, changes_note: null, node_calls: [], jobs: [] },
}
const planned = async (): Promise<Planned[]> => [{ opcode, read: [read], submits: [] }]

test('a plan is good for its user and its opcodes only', async () => {
  const plans = plansAt({ ms: 0 }, planned)
  const { id } = await plans.make(new Access(user('anna'), null), { ops })
  const { name: _, ...desired } = read
  expect(await plans.preconditions(user('anna'), id, ops)).toEqual([[desired]])
  expect(
    await plans.preconditions(user('anna'), id, [{ instance_name: 'inst1.gnt.example', OP_ID: ops[0]?.OP_ID ?? '' }]),
  ).toEqual([[desired]])
  await expect(plans.preconditions(user('bert'), id, ops)).rejects.toThrow(/no plan/)
  await expect(plans.preconditions(user('anna'), id, [...ops, ...ops])).rejects.toThrow(/other opcodes/)
})

describe('opcodes that are planned apart', () => {
  const start = (name: string) => ({ OP_ID: 'OP_INSTANCE_STARTUP', instance_name: name })
  const many = ['a', 'b', 'c'].map(start)
  const objectOf = (name: unknown) => ({ kind: 'instance', uuid: `u-${String(name)}`, serial_no: 3, name: '' }) as const
  const node = { kind: 'node', uuid: 'n', serial_no: 1, name: 'n' } as const
  const change = { kind: 'instance', name: '', change: 'changed', before: null, after: null } as const
  const requested: unknown[] = []
  /** Each changes its own instance; the last one looks at that of the first as well. */
  const plans = plansAt({ ms: 0 }, async (jobOps) => {
    requested.push(jobOps)
    return jobOps.map(({ instance_name: name }) => ({
      ...{ submits: [], read: [objectOf(name), node, ...(name === 'c' ? [objectOf('a')] : [])] },
      opcode: { ...opcode, possible: name !== 'a', changes: [{ ...change, uuid: `u-${String(name)}` }] },
    }))
  })
  const match = (id: string, jobOps: typeof many) => plans.preconditions(user('anna'), id, jobOps)
  const uuids = async (id: string, one: string) => (await match(id, [start(one)])).flat().map(({ uuid }) => uuid)

  test('are jobs of their own, which an impossible one does not stop, and each of which names the plan', async () => {
    const plan = await plans.make(new Access(user('anna'), null), { ops: many, apart: true })
    expect(requested).toEqual(many.map((op) => [op]))
    expect([plan.possible, plan.ops.map(({ possible }) => possible)]).toEqual([false, [false, true, true]])
    expect(await uuids(plan.id, 'b')).toEqual(['u-b', 'n'])
    await expect(match(plan.id, many)).rejects.toThrow(/other opcodes/)
    await expect(match(plan.id, [start('d')])).rejects.toThrow(/other opcodes/)
  })

  test('need not find as it was what the others change, but all else', async () => {
    const { id } = await plans.make(new Access(user('anna'), null), { ops: many, apart: true })
    expect(await uuids(id, 'c')).toEqual(['u-c', 'n'])
    expect(await uuids(id, 'a')).toEqual(['u-a', 'n'])
  })
})

test('a job that submits what the caller may not do is not planned', async () => {
  const submits = [[{ OP_ID: 'OP_INSTANCE_MIGRATE', instance_name: 'inst1.gnt.example' }]]
  const plans = plansAt({ ms: 0 }, async () => [{ opcode, read: [], submits }])
  const requested = [{ OP_ID: 'OP_NODE_MIGRATE', node_name: 'node1.gnt.example' }]
  const caller = new Access({ ...user('anna'), permissions: ['nodes.migrate'] }, null)
  await expect(plans.make(caller, { ops: requested })).rejects.toThrow(
    'OP_INSTANCE_MIGRATE of instance inst1.gnt.example needs the permission instances.migrate',
  )
  await expect(plans.make(new Access(user('anna'), null), { ops: requested })).resolves.toMatchObject({
    possible: true,
  })
})

test('a plan does not wait for a node that answers no questions', async () => {
  const requested: string[] = []
  const [target, silent] = Object.values(config.nodes)
  if (target === undefined || silent === undefined) throw new Error('the recorded cluster has more nodes')
  const context = {
    ...{
      config: () => config,
      gantry: () => EMPTY_GANTRY,
      random: seededRandom(1),
      log: silentLog,
      clock: systemClock,
    },
    questions: { ask: async ({ uuid }: NodeTarget) => (uuid === silent.uuid ? NO_ANSWER : { ok: true, payload: 1 }) },
    nodes: {
      async all(targets: readonly NodeTarget[]) {
        requested.push(...targets.map(({ uuid }) => uuid))
        return new Map(targets.map(({ uuid }) => [uuid, { ok: true, payload: {} }]))
      },
    },
    async planJob(_ops: unknown, _documents: unknown, nodes: NodeClient) {
      const results = await nodes.all([target, silent], 'vg_list', [])
      expect([results.get(target.uuid)?.ok, results.get(silent.uuid)]).toEqual([true, NO_ANSWER])
      return planned()
    },
  }
  await new Plans(context as unknown as MasterContext).make(new Access(user('anna'), null), { ops })
  expect(requested).toEqual([target.uuid])
})

test('a plan expires', async () => {
  const clock = { ms: 1000 }
  const plans = plansAt(clock, planned)
  const { id, expires } = await plans.make(new Access(user('anna'), null), { ops })
  expect(expires).toBe(timeText(1 + PLAN_S))
  clock.ms += PLAN_S * 1000 - 1
  expect(await plans.preconditions(user('anna'), id, ops)).toHaveLength(1)
  clock.ms += 1
  await expect(plans.preconditions(user('anna'), id, ops)).rejects.toThrow(
    /expired after 15 minutes, .*started again.*POST \/3\/plans/,
  )
})

test('only some plans are made at a time, and of one user fewer', async () => {
  let finish = (_planned: Planned[]): void => undefined
  const waiting = new Promise<Planned[]>((resolve) => (finish = resolve))
  const plans = plansAt({ ms: 0 }, () => waiting)
  const make = (name: string) => plans.make(new Access(user(name), null), { ops })
  const running = Array.from({ length: PLANS_RUNNING_PER_USER_MAX }, () => make('anna'))
  await expect(make('anna')).rejects.toThrow('2 plans of the user anna are being made already')
  while (running.length < PLANS_RUNNING_MAX) running.push(make(`user ${running.length}`))
  await expect(make('bert')).rejects.toThrow('4 plans are being made already')
  finish([])
  await Promise.all(running)
  await expect(make('anna')).resolves.toMatchObject({ ops: [] })
})

test('a user who makes many plans makes only the own ones be forgotten', async () => {
  const plans = plansAt({ ms: 0 }, planned)
  const first = plans.store(user('bert'), ops, [])
  const mine = Array.from({ length: PLANS_PER_USER_MAX + 1 }, () => plans.store(user('anna'), ops, []))
  await expect(plans.preconditions(user('bert'), first.id, ops)).resolves.toEqual([])
  await expect(plans.preconditions(user('anna'), mine[0]?.id ?? '', ops)).rejects.toThrow(/no plan/)
  await expect(plans.preconditions(user('anna'), mine[1]?.id ?? '', ops)).resolves.toEqual([])
})

test('a user who may not do it may not plan it', async () => {
  const plans = plansAt({ ms: 0 }, planned)
  const reader = new Access({ user: 'r', token: null, permissions: ['*.query'] }, null)
  await expect(plans.make(reader, { ops })).rejects.toThrow(/needs the permission/)
})
