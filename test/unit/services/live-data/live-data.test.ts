// Which calls lists cost nodes, and how they are shared.
import { silentLog } from '../../../../src/lib/log'
import { nodeUuid } from '../../../../src/model/ids'
import { LISTS_ASK_AT_ONCE, LISTS_ASK_PATIENCE_S, LIVE_ANSWER_S } from '../../../../src/model/limits/live-data'
import type { Node } from '../../../../src/model/node'
import { NodeCache } from '../../../../src/services/live-data/node-cache'
import { NodeLiveData, storageUnits } from '../../../../src/services/live-data/live-data'
import { NodeProber } from '../../../../src/services/live-data/node-prober'
import { fakeNodes } from '../../../support/fake-nodes'
import { goldenConfig } from '../../../support/golden-query'
import { SteppedClock, settled } from '../../../support/stepped-clock'

const config = goldenConfig()
const nodes = Object.values(config.nodes)

const stops: (() => void)[] = []
afterEach(() => stops.splice(0).forEach((stop) => stop()))

function start() {
  const { client, calls } = fakeNodes()
  const clock = new SteppedClock()
  const questions = new NodeProber(client, clock, silentLog)
  stops.push(() => questions.close())
  const known = new NodeCache(clock)
  return { calls, clock, known, live: new NodeLiveData(questions, clock, known) }
}

test('every node gets the calls as Ganeti makes them', async () => {
  const { calls, live } = start()
  void live.nodeInfo(config, nodes)
  void live.instanceInfo(config, nodes.slice(0, 1))
  expect(calls.map(({ call }) => call)).toEqual([...nodes.map(() => 'node_info'), 'all_instances_info'])
  expect(calls[0]?.args).toEqual([[['file', '/srv/ganeti/file-storage', []]], [['fake', { migration_mode: 'live' }]]])
  expect(calls.at(-1)?.args).toMatchObject([['fake', 'kvm'], { fake: { migration_mode: 'live' } }])
})

test('a request under way is not repeated; who comes meanwhile shares the next one', async () => {
  const { calls, live } = start()
  const [node] = nodes
  const ask = () => live.exports(node ? [node] : []).then((answers) => [...answers.values()][0])
  const first = ask()
  const second = ask()
  const third = ask()
  await settled()
  expect(calls).toHaveLength(1)
  calls[0]?.answer(['old'])
  expect(await first).toEqual({ ok: true, payload: ['old'] })
  await settled()
  expect(calls).toHaveLength(2)
  calls[1]?.answer(['new'])
  expect(await second).toEqual({ ok: true, payload: ['new'] })
  expect(await third).toEqual({ ok: true, payload: ['new'] })
  void ask()
  await settled()
  expect(calls).toHaveLength(3)
})

test('lists ask many nodes bit by bit, together, and who asks about one node waits for none of that', async () => {
  const { calls, clock, live } = start()
  const [model] = nodes
  if (model === undefined) throw new Error('no node')
  const many = manyLike(model, LISTS_ASK_AT_ONCE + 10)
  const lists = [live.instanceInfo(config, many), live.instanceInfo(config, many)]
  await clock.pass(LISTS_ASK_PATIENCE_S / 2)
  expect(calls).toHaveLength(LISTS_ASK_AT_ONCE)
  void live.instanceInfo(config, many.slice(-1))
  await settled()
  expect(calls.map(({ node }) => node).slice(LISTS_ASK_AT_ONCE)).toEqual([many.at(-1)?.name])
  // Nodes that the first list has not asked yet are asked once for both lists.
  for (let at = 0; at < calls.length; at++) {
    calls[at]?.answer({})
    await settled()
  }
  const answers = await Promise.all(lists)
  expect(answers.map(({ size }) => size)).toEqual([many.length, many.length])
  expect(calls).toHaveLength(LISTS_ASK_AT_ONCE + 1 + 10 + LISTS_ASK_AT_ONCE)
})

test('lists ask for consoles bit by bit, too, and wait for no node for longer than the limit', async () => {
  const { calls, clock, live } = start()
  const [model] = nodes
  const [instance] = Object.values(config.instances)
  if (model === undefined || instance === undefined) throw new Error('the recorded cluster is empty')
  const many = manyLike(model, 2 * LISTS_ASK_AT_ONCE)
  const instances = many.map(({ uuid, name }) => ({ ...instance, name: `on-${name}`, primary_node: uuid }))
  const own = { ...config, nodes: Object.fromEntries(many.map((node) => [node.uuid, node])) }
  const list = live.consoles(own, instances)
  await clock.pass(LISTS_ASK_PATIENCE_S / 2)
  expect(calls).toHaveLength(LISTS_ASK_AT_ONCE)
  calls[0]?.answer({})
  await clock.pass(LIVE_ANSWER_S)
  expect([...(await list).values()].filter(({ ok }) => ok)).toHaveLength(1)
})

test('nodes that hang do not keep a list from asking the others', async () => {
  const { calls, clock, live } = start()
  const [model] = nodes
  if (model === undefined) throw new Error('no node')
  const many = manyLike(model, 2 * LISTS_ASK_AT_ONCE)
  void live.instanceInfo(config, many)
  await clock.pass(2 * LISTS_ASK_PATIENCE_S)
  expect(calls).toHaveLength(many.length)
})

const manyLike = (node: Node, count: number): Node[] =>
  Array.from({ length: count }, (_, at) => ({ ...node, uuid: nodeUuid(`u${at}`), name: `n${at}` }))

test('consoles are asked of each primary node once', async () => {
  const { calls, live } = start()
  void live.consoles(config, Object.values(config.instances))
  await settled()
  const requested = calls.map(({ node, args }) => [node, Object.keys((args as [object])[0]).sort()])
  expect(Object.fromEntries(requested)).toEqual({
    'node1.gnt.example': ['inst5.gnt.example'],
    'node2.gnt.example': ['inst1.gnt.example', 'inst2.gnt.example'],
    'node3.gnt.example': ['inst3.gnt.example', 'inst4.gnt.example', 'inst6.gnt.example'],
  })
})

test('a node that is asked for a console is told what the configuration has, and filled parameters', async () => {
  const { calls, live } = start()
  const instance = Object.values(config.instances).find(({ name }) => name === 'inst2.gnt.example')
  if (instance === undefined) throw new Error('the recorded cluster has no inst2')
  void live.consoles(config, [instance])
  await settled()
  const node = config.nodes[instance.primary_node]
  const group = node && config.nodegroups[node.group]
  const beParams = { ...config.cluster.beparams.default, ...instance.beparams }
  const reported = { instance, node, group, hvParams: { migration_mode: 'live' }, beParams }
  expect(calls[0]?.args).toEqual([{ [instance.name]: reported }])
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

test('a node that is slow again and again holds nobody up for longer than the limit', async () => {
  const { calls, clock, live } = start()
  const [node] = nodes
  const ask = () => live.exports(node ? [node] : []).then((answers) => [...answers.values()][0]?.ok)
  const first = ask()
  const second = ask()
  await clock.pass(LIVE_ANSWER_S - 0.5)
  calls[0]?.answer([])
  await clock.pass(0.5)
  expect(await Promise.all([first, second])).toEqual([true, false])
})

test('answers of nodes are known from then on, and an older answer does not replace it', async () => {
  const { calls, clock, known, live } = start()
  const [node] = nodes
  if (node === undefined) throw new Error('no node')
  const knownOf = async () => [...(await known.insteadOf(live).instanceInfo(config, [node])).values()][0]
  expect(await knownOf()).toMatchObject({ ok: false })
  const runtime = { memory: 128, vcpus: 1, state: 0, time: 0 }
  void live.instanceInfo(config, [node])
  await clock.pass(1)
  known.learnRunning(node.uuid, { newer: runtime }, clock.monotonic_ms())
  calls[0]?.answer({ older: runtime })
  await settled()
  expect(await knownOf()).toEqual({ ok: true, payload: { newer: runtime } })
  expect(known.runningSeen_ms(node.uuid)).toBe(clock.now_ms())
  expect(known.seen_ms(node.uuid)).toBeUndefined()
  known.learnNode(node.uuid, ['boot', [], []], clock.monotonic_ms())
  const then_ms = clock.now_ms()
  await clock.pass(1)
  known.learnRunning(node.uuid, {}, clock.monotonic_ms())
  expect(known.seen_ms(node.uuid)).toBe(then_ms)
})
