import { systemClock } from '../../../src/lib/clock'
import { NodeLiveData, storageUnits } from '../../../src/services/live-data'
import type { NodeClient, NodeTarget } from '../../../src/rpc/node/client'
import { goldenConfig } from '../../support/golden-query'

const config = goldenConfig()
const nodes = Object.values(config.nodes)

/** A node client whose answers are given one by one by the test. */
function fakeClient() {
  const calls: { node: string; call: string; args: unknown; answer: (payload: unknown) => void }[] = []
  const client: NodeClient = {
    one: () => Promise.reject(new Error('not used')),
    async all(targets, call, args) {
      const ask = (target: NodeTarget) =>
        new Promise<unknown>((answer) =>
          calls.push({ node: target.name, call, args: typeof args === 'function' ? args(target) : args, answer }),
        )
      const entries = await Promise.all(
        targets.map(async (target) => [target.uuid, { ok: true, payload: await ask(target) }] as const),
      )
      return new Map(entries) as never
    },
    close: () => undefined,
  }
  return { client, calls, live: new NodeLiveData(client, systemClock) }
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

test('every node gets the calls as Ganeti makes them', async () => {
  const { calls, live } = fakeClient()
  void live.nodeInfo(config, nodes)
  void live.instanceInfo(config, nodes.slice(0, 1))
  expect(calls.map(({ call }) => call)).toEqual([...nodes.map(() => 'node_info'), 'all_instances_info'])
  expect(calls[0]?.args).toEqual([[['file', '/srv/ganeti/file-storage', []]], [['fake', { migration_mode: 'live' }]]])
  expect(calls.at(-1)?.args).toMatchObject([['fake', 'kvm'], { fake: { migration_mode: 'live' } }])
})

test('a request under way is not repeated; who comes meanwhile shares the next one', async () => {
  const { calls, live } = fakeClient()
  const [node] = nodes
  const ask = () => live.exports(node ? [node] : []).then((answers) => [...answers.values()][0])
  const first = ask()
  const second = ask()
  const third = ask()
  await settle()
  expect(calls).toHaveLength(1)
  calls[0]?.answer(['old'])
  expect(await first).toEqual({ ok: true, payload: ['old'] })
  await settle()
  expect(calls).toHaveLength(2)
  calls[1]?.answer(['new'])
  expect(await second).toEqual({ ok: true, payload: ['new'] })
  expect(await third).toEqual({ ok: true, payload: ['new'] })
  void ask()
  await settle()
  expect(calls).toHaveLength(3)
})

test('consoles are asked of each primary node once', async () => {
  const { calls, live } = fakeClient()
  void live.consoles(config, Object.values(config.instances))
  await settle()
  const asked = calls.map(({ node, args }) => [node, Object.keys((args as [object])[0]).sort()])
  expect(Object.fromEntries(asked)).toEqual({
    'node1.gnt.example': ['inst5.gnt.example'],
    'node2.gnt.example': ['inst1.gnt.example', 'inst2.gnt.example'],
    'node3.gnt.example': ['inst3.gnt.example', 'inst4.gnt.example', 'inst6.gnt.example'],
  })
})

test('the storage shown is that of the first template whose space is known', () => {
  const [node] = nodes
  if (node === undefined) throw new Error('no node')
  const units = (enabled_disk_templates: typeof config.cluster.enabled_disk_templates) =>
    storageUnits({ ...config, cluster: { ...config.cluster, enabled_disk_templates, volume_group_name: 'vg' } }, node)
  expect(units(['diskless', 'sharedfile', 'file'])).toEqual([['file', '/srv/ganeti/file-storage', []]])
  expect(units(['diskless', 'sharedfile'])).toEqual([['sharedfile', '/srv/ganeti/shared-file-storage', []]])
  expect(units(['drbd', 'file'])).toEqual([
    ['lvm-vg', 'vg', [false]],
    ['lvm-pv', 'vg', [false]],
  ])
  expect(units(['diskless', 'rbd'])).toEqual([])
})
