// The last hours of nodes and instances, over monitoring daemons on real sockets, some of which misbehave.
import { recordFrom, recordValues } from '../../../../src/config/records'
import { systemClock } from '../../../../src/lib/clock'
import type { ConfigData, Instance, Node, NodeUuid } from '../../../../src/model/config'
import { INSTANCE_COLUMNS } from '../../../../src/model/history'
import type { Identity } from '../../../../src/rpc/luxi/gantry'
import { askMond, type MondEndpoint } from '../../../../src/rpc/mond/client'
import { NO_NODE_HISTORY } from '../../../../src/rpc/mond/history'
import { Access } from '../../../../src/services/access/access'
import { HistoryService } from '../../../../src/services/monitoring/histories'
import { goldenConfig } from '../../../support/golden-query'
import { MondDoubles } from '../../../support/mond-double'

const doubles = new MondDoubles()
afterAll(() => doubles.close())

const golden = goldenConfig()
const [someNode] = recordValues(golden.nodes) as [Node]
const [someInstance] = recordValues(golden.instances) as [Instance]
const anna: Identity = { user: 'anna', token: null, permissions: ['*'] }
const caller = new Access(anna, null)

/** The instance `vm1` runs on the first of these nodes, and was on the others. Those without an address are marked offline. */
function clusterOf(...endpoints: readonly (MondEndpoint | undefined)[]) {
  const nodes = endpoints.map((endpoint, at) => {
    return { ...someNode, uuid: `uuid-${at + 1}` as NodeUuid, name: `node${at + 1}`, offline: endpoint === undefined }
  })
  const instance = { ...someInstance, name: 'vm1', primary_node: 'uuid-1' as NodeUuid, disks: [] }
  const config: ConfigData = {
    ...golden,
    nodes: recordFrom(nodes.map((node) => [node.uuid, node])),
    instances: recordFrom([[instance.uuid, instance]]),
  }
  const paths: string[] = []
  const service = new HistoryService({
    ...{ clock: systemClock, config: () => config },
    ask({ name }, path, bounds) {
      paths.push(path)
      const endpoint = endpoints[nodes.findIndex((node) => node.name === name)]
      if (endpoint === undefined) throw new Error('nobody may be asked there')
      return askMond(endpoint, path, { ...bounds, limit_s: 1 })
    },
    formerNodes: () => nodes.slice(1).map(({ name }) => name),
  })
  return { service, paths }
}

const instanceHistory = (times: readonly number[], busy: readonly (number | null)[]) => ({
  ...{ interval_s: 60, times },
  ...Object.fromEntries(INSTANCE_COLUMNS.map((name) => [name, times.map(() => null)])),
  cpus_busy: busy,
})

test('the last hours of an instance that has moved are put together from the nodes where it was', async () => {
  const { service, paths } = clusterOf(
    await doubles.answering(() => instanceHistory([180, 240], [0.5, null])),
    await doubles.answering(() => instanceHistory([60, 120, 190], [1, 2, 3])),
    await doubles.misbehaving('refuses'),
    undefined,
  )
  expect(await service.instance(caller, 'vm1', 30)).toMatchObject({
    ...{ interval_s: 60, times: [60, 120, 180, 190, 240], nodes: ['node2', 'node2', 'node1', 'node2', 'node1'] },
    ...{ cpus_busy: [1, 2, 0.5, 3, null], memory_bytes: [null, null, null, null, null] },
    missing: [{ node: 'node3', why: 'it answered with HTTP status 503' }],
  })
  expect([...new Set(paths)]).toEqual(['/1/history/instance/vm1?since=30'])
})

test('a primary node that does not tell is an error that names it', async () => {
  const silent = clusterOf(await doubles.misbehaving('is silent')).service
  await expect(silent.instance(caller, 'vm1', 0)).rejects.toThrow(
    'Node node1 does not tell its last hours: no answer within 1 s',
  )
  await expect(silent.node('node1', 0)).rejects.toThrow('Node node1 does not tell its last hours')
  const offline = clusterOf(undefined).service
  await expect(offline.instance(caller, 'vm1', 0)).rejects.toThrow('Node node1 is marked offline')
  await expect(offline.node('node1', 0)).rejects.toThrow('Node node1 is marked offline')
})

test('an answer that is no history is refused with what is wrong', async () => {
  const wrongs = [
    ['not JSON', await doubles.misbehaving('a page'), /it is not JSON/],
    ['another answer', await doubles.answering(() => []), /is no history/],
    ['too much', await doubles.misbehaving('sends 10 MB'), /longer than/],
    ['a short column', await doubles.answering(() => ({ ...NO_NODE_HISTORY, times: [1] })), /not one load for each/],
  ] as const
  for (const [, endpoint, why] of wrongs)
    await expect(clusterOf(endpoint).service.node('node1', 0)).rejects.toThrow(why)
})

test('what there is not, and what a scope does not hold, is refused', async () => {
  const { service } = clusterOf(await doubles.answering(() => NO_NODE_HISTORY))
  await expect(service.node('node7', 0)).rejects.toThrow("Node 'node7' not known")
  await expect(service.instance(caller, 'vm7', 0)).rejects.toThrow("Instance 'vm7' not known")
  const limited = new Access(anna, { permissions: ['*'], tags: ['no-such-tag'], groups: [] })
  await expect(service.instance(limited, 'vm1', 0)).rejects.toThrow("Instance 'vm1' not known")
  expect(await service.node('node1', 0)).toEqual(NO_NODE_HISTORY)
})
