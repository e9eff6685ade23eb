// Questions to the allocation of `/3`, from users and from tokens.
import { ALLOC_DEFAULTS } from '../../../src/allocation/model/options'
import { clusterDataOf, type LiveNode } from '../../../src/allocation/sources/from-config'
import { EMPTY_GANTRY } from '../../../src/config/upgrade'
import type { Clock } from '../../../src/lib/clock'
import type { Job, OpStatus } from '../../../src/jobs/job'
import type { JobQueue } from '../../../src/jobs/queue'
import type { TaskParts } from '../../../src/lib/work/worker-pool'
import type { BalanceRequest, CapacityRequest, WhatIfRequest } from '../../../src/model/allocation'
import { ECODE, GenericError } from '../../../src/model/errors'
import {
  ALLOCATION_PER_USER_MAX,
  ALLOCATION_THREADS,
  ALLOCATION_WAITING_MAX,
} from '../../../src/model/limits/allocation'
import type { Answered } from '../../../src/rpc/luxi/allocation'
import type { WireOpCode } from '../../../src/rpc/luxi/calls'
import { silentLog } from '../../../src/lib/log'
import { timeText } from '../../../src/lib/text/rfc3339'
import { seededRandom } from '../../../src/lib/random'
import type { ConfigData, GantryData } from '../../../src/model/config'
import { diskTemplateOf } from '../../../src/config/lookup'
import { isObject } from '../../../src/lib/shapes/shape'
import { parseOpcode } from '../../../src/opcodes/parse'
import { allOpcodes, fillOpcode } from '../../../src/opcodes/index'
import type { TokenScope } from '../../../src/rpc/luxi/gantry'
import { Access } from '../../../src/services/access/access'
import { AllocationService } from '../../../src/services/allocation'
import type { MasterContext } from '../../../src/services/master-context'
import { Plans } from '../../../src/services/jobs/plans'
import { clockAt } from '../../support/instant-clock'
import { thinkHere } from '../../support/job-surroundings'
import { goldenConfig } from '../../support/golden-query'

const golden = goldenConfig()
/** All instances run on the first node, from storage that all reach. */
const config: ConfigData = {
  ...golden,
  instances: Object.fromEntries(
    Object.entries(golden.instances).map(([uuid, one]) => [
      uuid,
      { ...one, admin_state: 'up' as const, primary_node: golden.cluster.master_node },
    ]),
  ),
}
const LIVE: LiveNode = {
  ...{ memoryTotal: 65536, memoryFree: 32768, ownMemory: 1024, cpus: 16, ownCpus: 1 },
  ...{ diskTotal: 1 << 20, diskFree: 1 << 19 },
}
const shared = Object.values(config.instances).filter((one) => diskTemplateOf(config, one) === 'sharedfile')
const master = config.nodes[config.cluster.master_node]?.name ?? ''
const USER = { user: 'anna', token: null, permissions: ['*'] }
const SPEC = { disk_template: 'sharedfile', memory_mib: 512, vcpus: 1, disks_mib: [1024] }

const all = new Access(USER, null)
const scoped = (scope: Partial<TokenScope>) =>
  new Access({ ...USER, token: 't' }, { permissions: ['*'], tags: [], groups: [], ...scope })

interface Thought {
  readonly run?: (parts: TaskParts, signal?: AbortSignal) => Promise<unknown>
  readonly gantry?: GantryData
  /** The answer of the job that a question was turned into. */
  readonly job?: Job
  readonly clock?: Clock
}

/** Every wait is over at once. */
const impatient: Clock = {
  ...clockAt(1e12),
  after(_delay_ms, action) {
    queueMicrotask(action)
    return { cancel: () => undefined }
  },
}

function serviceOf({ run = thinkHere, gantry = EMPTY_GANTRY, job, clock = clockAt(1e12) }: Thought = {}) {
  const live = new Map(Object.keys(config.nodes).map((uuid) => [uuid, LIVE]))
  const context: Partial<MasterContext> = {
    ...{ config: () => config, gantry: () => gantry, clock, random: seededRandom(1), log: silentLog },
    queue: { find: async () => job } as Partial<JobQueue> as JobQueue,
    allocation: {
      picture: async () => ({
        data: await clusterDataOf(config, live, 'drbd'),
        options: { ...ALLOC_DEFAULTS, capacity: false },
      }),
      run,
    },
  }
  const plans = new Plans(context as MasterContext)
  const jobs: WireOpCode[] = []
  const whenEnded = async () => job
  const ask = async (_: Access, op: WireOpCode) => jobs.push(op)
  const service = new AllocationService(context as MasterContext, { plans, jobs: { whenEnded }, submissions: { ask } })
  return { service, plans, jobs }
}

const WAITS = { wait_s: null, signal: undefined }

async function answered<T>(answer: Promise<Answered<T>>): Promise<T> {
  const result = await answer
  if ('answer' in result) return result.answer
  throw new Error(`job ${result.job} has it`)
}

/** Questions that are answered at once. */
const asking = (to: AllocationService) => ({
  balance: (access: Access, request: BalanceRequest) => answered(to.balance(access, request, WAITS)),
  capacity: (access: Access, request: CapacityRequest) => answered(to.capacity(access, request, WAITS)),
  whatIf: (access: Access, request: WhatIfRequest) => answered(to.whatIf(access, request, WAITS)),
})

const { service: ours, plans } = serviceOf()
const service = asking(ours)
const submitted = (ops: readonly { OP_ID: string }[]) =>
  ops.map(({ OP_ID, ...params }) => {
    const definition = allOpcodes.get(OP_ID)
    if (definition === undefined) throw new Error(OP_ID)
    return parseOpcode(fillOpcode(definition, params))
  })

test('a balance is a plan that its opcodes can be submitted with, as they are answered or in full', async () => {
  expect(shared.length).toBeGreaterThan(1)
  const { plan, ops, steps, groups, preconditions, more } = await service.balance(all, {})
  expect(groups.map(({ group }) => group).sort()).toEqual(['default', 'rack2'])
  expect([steps.length > 0, more]).toEqual([true, false])
  const match = await plans.preconditions(USER, plan ?? '', submitted(ops))
  expect(match).toHaveLength(ops.length)
  for (const { instance, first_op, to } of steps) {
    const own = shared.find(({ name }) => name === instance)
    const nodes = Object.values(config.nodes).filter(({ name }) => to.includes(name))
    const desired = [{ ...own, kind: 'instance' }, ...nodes.map((node) => ({ ...node, kind: 'node' }))]
    expect(match[first_op]).toEqual(desired.map(({ kind, uuid, serial_no }) => ({ kind, uuid, serial_no })))
  }
  await expect(plans.preconditions(USER, plan ?? '', submitted(ops.slice(1)))).rejects.toThrow(/other opcodes/)
  expect(preconditions).toEqual(match)
})

test('nothing to move is no plan', async () => {
  const nothing = { plan: null, expires: null, steps: [], ops: [] }
  expect(await service.balance(all, { groups: ['rack2'] })).toMatchObject(nothing)
  expect(await service.balance(all, { instance_moves: false })).toMatchObject(nothing)
})

test('a token plans with what is in its scope', async () => {
  const inside = await service.balance(scoped({ groups: ['default'] }), {})
  expect(inside.groups.map(({ group }) => group)).toEqual(['default'])
  const elsewhere = scoped({ groups: ['rack2'] })
  expect((await service.balance(elsewhere, {})).groups.map(({ group }) => group)).toEqual(['rack2'])
  await expect(service.balance(elsewhere, { groups: ['default'] })).rejects.toThrow('There is no node group default')
  await expect(service.capacity(elsewhere, { spec: SPEC, groups: ['default'] })).rejects.toThrow(/no node group/)
  await expect(service.whatIf(elsewhere, { nodes: [master] })).rejects.toThrow(`There is no node ${master}`)
  await expect(service.whatIf(elsewhere, { instances: [{ spec: SPEC, group: 'default' }] })).rejects.toThrow(/no node/)
  const { placed } = await service.whatIf(elsewhere, { instances: [{ spec: SPEC, group: 'rack2', count: 2 }] })
  expect(placed.map(({ nodes }) => nodes)).toEqual([['node4.gnt.example'], ['node4.gnt.example']])
})

test('a token is told of those instances of a dead node that it sees', async () => {
  const everything = await service.whatIf(all, { nodes: [master] })
  expect([...everything.restored, ...everything.lost]).toHaveLength(Object.keys(config.instances).length)
  const [tagged] = Object.values(config.instances).filter(({ tags }) => tags.includes('service:db'))
  const limited = scoped({ tags: ['service:db', 'ssd'] })
  const node2 = Object.values(config.nodes).find(({ tags }) => tags.includes('ssd'))
  await expect(service.whatIf(limited, { node_tag: 'rack:r9' })).rejects.toThrow(/no node with the tag/)
  const answer = await service.whatIf(limited, { node_tag: 'rack:r1' })
  expect(answer).toMatchObject({ dead: [node2?.name], restored: [], lost: [], groups: [] })
  expect(limited.sees(config, `instance/${tagged?.name}`)).toBe(true)
  expect((await service.balance(limited, {})).groups).toEqual([])
})

test('the capacity of each group is its own', async () => {
  const { fits, groups } = await service.capacity(all, { spec: SPEC, max_instances: 3 })
  expect(groups.map(({ group, fits: own }) => [group, own]).sort()).toEqual([
    ['default', 3],
    ['rack2', 3],
  ])
  expect(fits).toBe(6)
  const network = Object.values(config.networks)[0]?.name ?? ''
  const connected = await service.capacity(all, { spec: { ...SPEC, networks: [network] }, max_instances: 1 })
  for (const { group, fits: own, reason } of connected.groups) {
    const { networks } = Object.values(config.nodegroups).find(({ name }) => name === group) ?? { networks: {} }
    const has = Object.keys(networks).some((uuid) => config.networks[uuid]?.name === network)
    expect([own, reason]).toEqual(has ? [1, null] : [0, expect.stringMatching(/not connected to its network/)])
  }
})

test('a question that cannot be meant is refused with a way out', async () => {
  const drbd = { ...SPEC, disk_template: 'drbd' }
  await expect(service.capacity(all, { spec: drbd })).rejects.toThrow(/drbd is not enabled .* diskless, file, shared/)
  await expect(service.capacity(all, { spec: { ...SPEC, networks: ['n'] } })).rejects.toThrow('There is no network n')
  const disks = { ...SPEC, disk_template: 'diskless', disks_mib: [1024] }
  await expect(service.capacity(all, { spec: disks })).rejects.toThrow(
    'disks_mib: an instance of template diskless has no disks',
  )
  const spindles = { ...SPEC, disks_spindles: [1, 2] }
  await expect(service.capacity(all, { spec: spindles })).rejects.toThrow('disks_spindles: 2 numbers for 1 disks')
  const nowhere = { instances: [{ spec: SPEC, group: 'nowhere' }] }
  await expect(service.whatIf(all, nowhere)).rejects.toThrow('There is no node group nowhere')
  const many = {
    instances: [
      { spec: SPEC, count: 900 },
      { spec: SPEC, count: 101 },
    ],
  }
  await expect(service.whatIf(all, many)).rejects.toThrow(/1001 are more than 1000/)
})

test('a node group may be named by its uuid, and nodes that die several times', async () => {
  const [group] = Object.values(config.nodegroups)
  const named = async (name = '') => service.whatIf(all, { instances: [{ spec: SPEC, group: name }] })
  expect((await named(group?.name)).placed).toHaveLength(1)
  expect(await named(group?.uuid)).toEqual(await named(group?.name))
  const tagged = Object.values(config.nodes).filter(({ tags }) => tags.includes('rack:r1'))
  const names = tagged.map(({ name }) => name)
  const { dead } = await service.whatIf(all, { nodes: [...names, master, master], node_tag: 'rack:r1' })
  expect([...dead].sort()).toEqual([...names, master].sort())
})

test('a question that takes longer becomes a job, which asks the same of what the caller sees', async () => {
  let ended = false
  const forever = (_: TaskParts, signal?: AbortSignal) =>
    new Promise<never>((_resolve, reject) => {
      signal?.addEventListener('abort', () => {
        ended = true
        reject(new Error('nobody waits for it any more'))
      })
    })
  const { service: slow, jobs } = serviceOf({ run: forever, clock: impatient })
  expect(await slow.balance(all, { max_moves: 3 }, WAITS)).toEqual({ job: 1 })
  expect(ended).toBe(true)
  expect(jobs).toEqual([expect.objectContaining({ OP_ID: 'OP_CLUSTER_BALANCE', max_moves: 3 })])
  expect(jobs[0]).not.toHaveProperty('visible')
  const elsewhere = scoped({ groups: ['rack2'] })
  expect(await slow.whatIf(elsewhere, { nodes: ['node4'] }, WAITS)).toEqual({ job: 2 })
  expect(jobs[1]).toMatchObject({ OP_ID: 'OP_CLUSTER_WHAT_IF', nodes: ['node4'] })
  expect(jobs[1]?.['visible']).toMatchObject({ groups: ['rack2'], nodes: ['node4.gnt.example'] })
  // When its turn comes, the token still may ask exactly that, and no more.
  expect(() => elsewhere.check(config, jobs[1] ?? { OP_ID: '' })).not.toThrow()
  expect(() => elsewhere.check(config, { OP_ID: 'OP_CLUSTER_WHAT_IF', nodes: ['node4'] })).toThrow(/outside the scope/)
  expect(() => elsewhere.check(config, { ...jobs[1], OP_ID: 'OP_CLUSTER_WHAT_IF', nodes: ['node1'] })).toThrow(
    /outside/,
  )
  const everything = { groups: [], nodes: Object.values(config.nodes).map(({ name }) => name), instances: [] }
  expect(() => elsewhere.check(config, { OP_ID: 'OP_CLUSTER_BALANCE', visible: everything })).toThrow(/outside/)
})

const userNamed = (user: string) => new Access({ ...USER, user }, null)

/** So many questions of each user are thought about until `stop`. */
function underWay(
  { service: requested }: ReturnType<typeof serviceOf>,
  users: Record<string, number>,
): () => Promise<void> {
  const leaving: AbortController[] = []
  const asking = Object.entries(users).flatMap(([user, count]) =>
    Array.from({ length: count }, () => {
      const left = new AbortController()
      leaving.push(left)
      return requested.balance(userNamed(user), {}, { ...WAITS, signal: left.signal })
    }),
  )
  return async () => {
    for (const left of leaving) left.abort(new Error('left'))
    expect(new Set((await Promise.allSettled(asking)).map(({ status }) => status))).toEqual(new Set(['rejected']))
  }
}

/** Only balances take long. */
const longBalances = (parts: TaskParts, signal?: AbortSignal) =>
  new Promise<unknown>((resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('nobody waits for it any more')))
    signal?.throwIfAborted()
    void thinkHere(parts).then((answer) => {
      if (!isObject(answer) || !('steps' in answer)) resolve(answer)
    })
  })

test('a user who has enough questions under way gets a job, while another is answered', async () => {
  const made = serviceOf({ run: longBalances })
  const stop = underWay(made, { anna: ALLOCATION_PER_USER_MAX })
  expect(await made.service.capacity(all, { spec: SPEC }, WAITS)).toEqual({ job: 1 })
  expect(made.jobs).toEqual([expect.objectContaining({ OP_ID: 'OP_CLUSTER_CAPACITY', spec: SPEC })])
  expect(await made.service.capacity(userNamed('bert'), { spec: SPEC }, WAITS)).toHaveProperty('answer')
  await stop()
  expect(await made.service.capacity(all, { spec: SPEC }, WAITS)).toHaveProperty('answer')
})

test('with enough questions of all users under way, the next becomes a job', async () => {
  const made = serviceOf({ run: longBalances })
  const users = Array.from({ length: ALLOCATION_THREADS + ALLOCATION_WAITING_MAX }, (_, at) => [`user${at}`, 1])
  const stop = underWay(made, Object.fromEntries(users))
  expect(await made.service.capacity(all, { spec: SPEC }, WAITS)).toEqual({ job: 1 })
  await stop()
})

test('a caller who wants a job has it at once', async () => {
  expect(await ours.capacity(all, { spec: SPEC }, { ...WAITS, wait_s: 0 })).toEqual({ job: 1 })
  // A wrong question is refused at once.
  await expect(ours.balance(all, { groups: ['g9'] }, { ...WAITS, wait_s: 0 })).rejects.toThrow(/no node group g9/)
  const failing = serviceOf({ run: () => Promise.reject(new GenericError('the thread has ended')) }).service
  await expect(failing.balance(all, {}, WAITS)).rejects.toThrow('the thread has ended')
})

test('nothing becomes a job for who has left', async () => {
  const made = serviceOf({ run: longBalances })
  const stop = underWay(made, { anna: ALLOCATION_PER_USER_MAX })
  await expect(made.service.balance(all, {}, { ...WAITS, signal: AbortSignal.abort() })).rejects.toThrow(/abort/)
  expect(made.jobs).toEqual([])
  await stop()
})

const jobOf = (status: OpStatus, result: unknown, input: WireOpCode = { OP_ID: 'OP_CLUSTER_BALANCE' }): Job => ({
  ...{ id: 7, received_timestamp: null, start_timestamp: null, end_timestamp: null },
  ops: [
    { input, status, result, log: [], priority: 0, start_timestamp: null, exec_timestamp: null, end_timestamp: null },
  ],
})

test('scripts are asked by a job, whose result is the answer when it is quick', async () => {
  const gantry = {
    ...EMPTY_GANTRY,
    sections: { allocators: { balance: ['mine', 'hail'], capacity: ['hail', 'mine'] } },
  }
  const requested = (job: Job) => serviceOf({ gantry, job, run: () => Promise.reject(new Error('not here')) })
  const quick = requested(jobOf('success', { steps: [] }))
  expect(await quick.service.balance(all, {}, WAITS)).toEqual({ answer: { steps: [] } })
  expect(quick.jobs).toHaveLength(1)
  expect(await requested(jobOf('running', null)).service.balance(all, {}, WAITS)).toEqual({ job: 1 })
  const failed = requested(jobOf('error', ['OpPrereqError', ['the moon is wrong', ECODE.NORES]]))
  await expect(failed.service.balance(all, {}, WAITS)).rejects.toThrow(/the moon is wrong/)
  const broken = requested(jobOf('error', ['OpExecError', ['it exited with 3']]))
  await expect(broken.service.balance(all, {}, WAITS)).rejects.toMatchObject({ code: ECODE.ENVIRON })
  await expect(quick.service.balance(all, { iallocator: 'hail' }, WAITS)).rejects.toThrow('not here')
  await expect(quick.service.capacity(all, { spec: SPEC }, WAITS)).rejects.toThrow('not here')
})

test('a plan that a job has made is a plan for its user', async () => {
  const { ops, preconditions, expires } = await service.balance(all, {})
  const input = {
    OP_ID: 'OP_CLUSTER_BALANCE',
    reason: [
      ['gantry:user', 'anna', 1],
      ['gnt:opcode:cluster_balance', 'job=7;index=0', 2],
    ],
  }
  const planned = (job: Job) => serviceOf({ job }).plans
  const made = planned(jobOf('success', { ops, preconditions, expires }, input))
  expect(await made.preconditions(USER, 'job-7-0', submitted(ops))).toEqual(preconditions)
  await expect(made.preconditions(USER, 'job-7-0', submitted(ops.slice(1)))).rejects.toThrow(/other opcodes/)
  const no = /There is no plan job-7-/
  await expect(made.preconditions(USER, 'job-7-1', submitted(ops))).rejects.toThrow(no)
  await expect(made.preconditions({ ...USER, user: 'bert' }, 'job-7-0', submitted(ops))).rejects.toThrow(no)
  const others = [
    jobOf('error', null, input),
    jobOf('success', { ops, preconditions, expires: timeText(1) }, input),
    jobOf('success', { ops, preconditions, expires }),
  ]
  for (const job of others)
    await expect(planned(job).preconditions(USER, 'job-7-0', submitted(ops))).rejects.toThrow(no)
  const other = jobOf('success', null, { ...input, OP_ID: 'OP_TEST_DELAY' })
  await expect(planned(other).preconditions(USER, 'job-7-0', submitted(ops))).rejects.toThrow(no)
})
