// The view of the nodes' monitoring, over monitoring daemons on real sockets, some of which misbehave.
import { recordFrom, recordValues } from '../../../../src/config/records'
import { systemClock } from '../../../../src/lib/clock'
import type { ConfigData, Node, NodeUuid } from '../../../../src/model/config'
import type { Identity } from '../../../../src/rpc/luxi/gantry'
import type { MonitoringRequest } from '../../../../src/rpc/luxi/monitoring'
import { askMond, type MondEndpoint } from '../../../../src/rpc/mond/client'
import { Access } from '../../../../src/services/access/access'
import { MonitoringService } from '../../../../src/services/monitoring/monitoring'
import { NodeReports } from '../../../../src/services/monitoring/node-reports'
import { goldenConfig } from '../../../support/golden-query'
import { MondDoubles, nodeReports, REPORT } from '../../../support/mond-double'

const doubles = new MondDoubles()
afterAll(() => doubles.close())

const golden = goldenConfig()
const [some] = recordValues(golden.nodes) as [Node]
const anna: Identity = { user: 'anna', token: null, permissions: ['*'] }
const caller = new Access(anna, null)
const all: MonitoringRequest = { nodes: [], categories: [], collectors: [], reports: true, after: null, limit: 100 }

/** A cluster of these nodes; those without an address are marked offline. */
function clusterOf(endpoints: Readonly<Record<string, MondEndpoint | undefined>>) {
  const nodes = Object.entries(endpoints).map(([name, endpoint]) => {
    return { ...some, uuid: `uuid-${name}` as NodeUuid, name, offline: endpoint === undefined }
  })
  const config: ConfigData = { ...golden, nodes: recordFrom(nodes.map((node) => [node.uuid, node])) }
  const requested: string[] = []
  const reports = new NodeReports({
    clock: systemClock,
    ask({ name }, path, bounds) {
      requested.push(name)
      const endpoint = endpoints[name]
      if (endpoint === undefined) throw new Error('nobody may be asked there')
      return askMond(endpoint, path, { ...bounds, limit_s: 1 })
    },
  })
  return { asked: requested, service: new MonitoringService({ clock: systemClock, reports, config: () => config }) }
}

const fine = () => nodeReports(Date.now()).slice(0, 2)

test('every node is one item that says how it answered and what is not well', async () => {
  const { service } = clusterOf({
    'node1.example': await doubles.answering(() => nodeReports(Date.now())),
    'node2.example': undefined,
    'node3.example': await doubles.dead(),
    'node4.example': await doubles.misbehaving('is silent'),
    'node5.example': await doubles.misbehaving('never ends'),
    'node6.example': await doubles.misbehaving('sends 10 MB'),
    'node7.example': await doubles.misbehaving('a page'),
    'node8.example': await doubles.answering(fine, () => new Date(Date.now() + 3_600_000)),
    'node9.example': await doubles.answering(() => [{ ...REPORT, name: 7 }]),
    'node10.example': await doubles.answering(fine),
  })
  const { items, next } = await service.page(all)
  expect(next).toBeNull()
  const reported = items.map(({ node, answer, status, problems }) => [
    ...[node.split('.')[0], answer, status],
    problems.map(({ collector, code, message }) => [collector, code, message]),
  ])
  const said = (text: string) => expect.stringContaining(text)
  expect(reported).toEqual([
    ['node1', 'reports', 4, [...[['storage', 1, 'pool: degraded']], ['inst-status', 4, 'vm1: it has crashed']]],
    ['node2', 'offline', null, []],
    ['node3', 'refused', 2, [[null, 2, said('nothing listens on')]]],
    ['node4', 'silent', 2, [[null, 2, said('no answer within')]]],
    ['node5', 'bad', 2, [[null, 2, said('did not end within')]]],
    ['node6', 'bad', 2, [[null, 2, said('longer than')]]],
    ['node7', 'bad', 2, [[null, 2, said('is not JSON')]]],
    ['node8', 'reports', 4, [[null, 4, expect.stringMatching(/^its clock is (3599|3600) s ahead of the master's$/)]]],
    ['node9', 'bad', 2, [[null, 2, said('[0]: name: expected a text')]]],
    ['node10', 'reports', 0, []],
  ])
  expect(items[0]).toMatchObject({ figures: { load: 1.5, storage: { name: '/srv' } } })
  expect(JSON.parse(items[0]?.reports ?? '')).toHaveLength(4)
  expect(items.map(({ reports }) => reports === null)).toEqual([
    ...[false, true, true, true, true, true, true, false, true, false],
  ])
})

test('parts are chosen by node, category and collector, and only they make the status', async () => {
  const { service, asked: requested } = clusterOf({
    node1: await doubles.answering(() => nodeReports(Date.now())),
    node2: await doubles.answering(fine),
  })
  const page = async (more: Partial<MonitoringRequest>) => {
    const { items } = await service.page({ ...all, ...more })
    return items.map(({ node, status, reports }) => [
      ...[node, status],
      reports && (JSON.parse(reports) as { name: string }[]).map(({ name }) => name),
    ])
  }
  await expect(page({ categories: ['storage', 'disks'] })).rejects.toThrow(
    "category: there is no 'disks', but instance, storage, daemon, hypervisor, node, default",
  )
  expect(await page({ nodes: ['node1'], categories: ['storage'] })).toEqual([['node1', 1, ['storage']]])
  expect(requested).toEqual(['node1'])
  expect(await page({ categories: ['default'] })).toEqual([
    ['node1', 0, ['cpu-avg-load']],
    ['node2', 0, ['cpu-avg-load']],
  ])
  expect(await page({ nodes: ['node1'], collectors: ['inst-status', 'system'], reports: false })).toEqual([
    ['node1', 4, null],
  ])
  await expect(page({ nodes: ['node9'] })).rejects.toThrow('There is no node node9')
})

test('a page asks only its own nodes, in the order of their names', async () => {
  const endpoint = await doubles.answering(fine)
  const { service, asked: requested } = clusterOf({ node10: endpoint, node2: endpoint, node1: endpoint })
  const first = await service.page({ ...all, limit: 2 })
  expect([first.items.map(({ node }) => node), first.next, requested]).toEqual([
    ...[['node1', 'node2'], 'node2', ['node1', 'node2']],
  ])
  const second = await service.page({ ...all, limit: 2, after: first.next })
  expect([second.items.map(({ node }) => node), second.next]).toEqual([['node10'], null])
})

test('a token with a scope is shown numbers only of nodes that it knows', async () => {
  const { service } = clusterOf({ node1: await doubles.answering(fine) })
  const limited = new Access({ ...anna, token: 'ab' }, { permissions: ['*'], tags: ['web'], groups: [] })
  expect(service.measured(limited)).toEqual([])
})

test('numbers are those of the last answer: who looks waits for nobody', async () => {
  const { service, asked: requested } = clusterOf({
    node1: await doubles.answering(() =>
      nodeReports(Date.now(), [{ ...REPORT, name: 'mine', kind: 1, timestamp: 1, data: {} }]),
    ),
    node2: await doubles.dead(),
    node3: undefined,
  })
  const up = () => service.measured(caller).map((one) => [one.node, one.up, one.status])
  expect(up()).toEqual([
    ['node1', null, 2],
    ['node2', null, 2],
  ])
  await service.page(all)
  expect(up()).toEqual([
    ['node1', true, 4],
    ['node2', false, 2],
  ])
  expect(requested).toEqual(['node1', 'node2'])
  // A plugin's name is the node's to choose, so it is none of a metric.
  expect(service.measured(caller)[0]).toMatchObject({
    ...{ figures: { load: 1.5 }, clock_ahead_s: expect.any(Number) },
    codes: [
      ['storage', 'storage', 1],
      ['instance', 'inst-status', 4],
    ],
  })
})
