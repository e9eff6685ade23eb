import { ALLOC_DEFAULTS } from '../../../src/allocation/allocate'
import { clusterDataOf, type LiveNode } from '../../../src/allocation/from-config'
import { fromParts } from '../../../src/allocation/question-parts'
import { answerQuestion } from '../../../src/allocation/questions'
import { PoolBusy, TaskTooLong, type TaskParts } from '../../../src/lib/worker-pool'
import { silentLog } from '../../../src/lib/log'
import { seededRandom } from '../../../src/lib/random'
import type { ConfigData } from '../../../src/model/config'
import { diskTemplateOf } from '../../../src/config/lookup'
import { parseOpcode } from '../../../src/opcodes/parse'
import { allOpcodes, fillOpcode } from '../../../src/opcodes/index'
import type { TokenScope } from '../../../src/rpc/luxi/gantry'
import { Access } from '../../../src/services/access'
import { AllocationService } from '../../../src/services/allocation'
import type { MasterContext } from '../../../src/services/master-context'
import { Plans } from '../../../src/services/plans'
import { clockAt } from '../../support/instant-clock'
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

async function think(parts: TaskParts): Promise<unknown> {
  const list: unknown[] = []
  for await (const part of parts) list.push(part)
  const { data, question, options } = fromParts(list)
  return answerQuestion(data, question, options)
}

function serviceOf(run: (parts: TaskParts) => Promise<unknown> = think) {
  const live = new Map(Object.keys(config.nodes).map((uuid) => [uuid, LIVE]))
  const context: Partial<MasterContext> = {
    ...{ config: () => config, clock: clockAt(1e12), random: seededRandom(1), log: silentLog },
    allocation: {
      picture: async () => ({
        data: await clusterDataOf(config, live),
        options: { ...ALLOC_DEFAULTS, capacity: false },
      }),
      run,
    },
  }
  const plans = new Plans(context as MasterContext)
  return { service: new AllocationService(context as MasterContext, plans), plans }
}

const { service, plans } = serviceOf()
const submitted = (ops: readonly { OP_ID: string }[]) =>
  ops.map(({ OP_ID, ...params }) => {
    const definition = allOpcodes.get(OP_ID)
    if (definition === undefined) throw new Error(OP_ID)
    return parseOpcode(fillOpcode(definition, params))
  })

test('a balance is a plan that its opcodes can be submitted with, as they are answered or in full', async () => {
  expect(shared.length).toBeGreaterThan(1)
  const { plan, ops, steps, groups, more } = await service.balance(all, {})
  expect(groups.map(({ group }) => group).sort()).toEqual(['default', 'rack2'])
  expect([steps.length > 0, more]).toEqual([true, false])
  const match = plans.preconditions(USER, plan ?? '', submitted(ops))
  expect(match).toHaveLength(ops.length)
  for (const { instance, first_op, to } of steps) {
    const own = shared.find(({ name }) => name === instance)
    const nodes = Object.values(config.nodes).filter(({ name }) => to.includes(name))
    const wanted = [{ ...own, kind: 'instance' }, ...nodes.map((node) => ({ ...node, kind: 'node' }))]
    expect(match[first_op]).toEqual(wanted.map(({ kind, uuid, serial_no }) => ({ kind, uuid, serial_no })))
  }
  expect(() => plans.preconditions(USER, plan ?? '', submitted(ops.slice(1)))).toThrow(/other opcodes/)
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

test('of what a dead node ran, a token is told of what it sees', async () => {
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

test('who may not ask is told so', async () => {
  const nobody = new Access({ ...USER, permissions: ['instances.*'] }, null)
  await expect(service.balance(nobody, {})).rejects.toThrow(/not permitted/)
  await expect(service.capacity(nobody, { spec: SPEC })).rejects.toThrow(/not permitted/)
  await expect(service.whatIf(nobody, { nodes: [master] })).rejects.toThrow(/not permitted/)
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

test('what cannot be meant is refused with a way out', async () => {
  const drbd = { ...SPEC, disk_template: 'drbd' }
  await expect(service.capacity(all, { spec: drbd })).rejects.toThrow(/drbd is not enabled .* diskless, file, shared/)
  await expect(service.capacity(all, { spec: { ...SPEC, networks: ['n'] } })).rejects.toThrow('There is no network n')
  const many = {
    instances: [
      { spec: SPEC, count: 900 },
      { spec: SPEC, count: 101 },
    ],
  }
  await expect(service.whatIf(all, many)).rejects.toThrow(/1001 are more than 1000/)
  const failing = (error: Error) => serviceOf(() => Promise.reject(error)).service.balance(all, {})
  await expect(failing(new PoolBusy('2 are at work'))).rejects.toThrow(/Too many questions at once.*try again/)
  await expect(failing(new TaskTooLong('took more than 120 s'))).rejects.toThrow(/120 s; ask for less/)
})
