// luxid looks at each node in turn, at a pace.
import { type Log, silentLog } from '../../../../src/lib/log'
import {
  LIVE_ANSWER_S,
  NODE_LOOKS_PER_S,
  NODE_LOOKS_SHARE,
  NODE_LOOK_AGAIN_S,
  NODE_LOOK_FAILED_EVERY_S,
  NODE_LOOK_S,
  NODE_LOOK_SOON_S,
} from '../../../../src/model/limits/live-data'
import { recordFrom } from '../../../../src/config/records'
import { recordValues } from '../../../../src/config/records'
import type { ConfigData, Node, NodeUuid } from '../../../../src/model/config'
import { LastKnown } from '../../../../src/services/live-data/last-known'
import { NodeLiveData } from '../../../../src/services/live-data/live-data'
import { NodeLooks } from '../../../../src/services/live-data/node-looks'
import { NodeQuestions } from '../../../../src/services/live-data/node-questions'
import { fakeNodes } from '../../../support/fake-nodes'
import { goldenConfig } from '../../../support/golden-query'
import { SteppedClock } from '../../../support/stepped-clock'

const golden = goldenConfig()
const online = recordValues(golden.nodes).filter((node) => !node.offline && node.vm_capable)
const ANSWERS: Readonly<Record<string, unknown>> = { all_instances_info: {}, node_info: ['boot', [], []] }

let stop = () => undefined as void
afterEach(() => stop())

function start(config: ConfigData, silent: (node: string) => boolean = () => false) {
  const { client, calls } = fakeNodes((call, { name }) => (silent(name) ? undefined : ANSWERS[call]))
  const logged: unknown[] = []
  const log = { info: (fields: unknown) => void logged.push(fields) } as unknown as Log
  const clock = new SteppedClock()
  const questions = new NodeQuestions(client, clock, silentLog)
  const known = new LastKnown(clock)
  const live = new NodeLiveData(questions, clock, known)
  const current = { config }
  const returned: string[] = []
  const back = ({ name }: Node) => void returned.push(name)
  const looks = new NodeLooks({ clock, live, known, log, config: () => current.config, returned: back })
  looks.start()
  stop = () => {
    looks.close()
    questions.close()
  }
  const seen = () => calls.splice(0).filter(({ call }) => call === 'all_instances_info')
  return { clock, known, looks, seen, current, calls, live, logged, returned }
}

test('every node is looked at, and again when what is known of it is old', async () => {
  const { clock, known, seen } = start(golden)
  await clock.pass(1)
  expect(
    seen()
      .map(({ node }) => node)
      .sort(),
  ).toEqual(online.map(({ name }) => name).sort())
  const first_ms = online.map(({ uuid }) => known.seen_ms(uuid))
  await clock.pass(NODE_LOOK_S)
  expect(seen()).toHaveLength(online.length)
  for (const [index, { uuid }] of online.entries())
    expect(known.seen_ms(uuid)).toBeGreaterThan(first_ms[index] ?? Infinity)
})

test('a thousand nodes are looked at no faster than the pace allows', async () => {
  const [node] = online
  const many = Array.from({ length: 1000 }, (_, index): Node => ({
    ...(node as Node),
    uuid: `node-${index}` as NodeUuid,
    name: `node-${index}`,
  }))
  const { clock, seen } = start({ ...golden, nodes: recordFrom(many.map((one) => [one.uuid, one])) })
  for (let second = 0; second < 60; second++) {
    await clock.pass(1)
    expect(seen().length).toBeLessThanOrEqual(NODE_LOOKS_PER_S + 1)
  }
})

test('a node that hangs is looked at by its one probe', async () => {
  const [hung] = online
  const { clock, known, seen } = start(golden, (name) => name === hung?.name)
  await clock.pass(LIVE_ANSWER_S + 10 * NODE_LOOK_AGAIN_S)
  expect(seen().filter(({ node }) => node === hung?.name)).toHaveLength(1)
  expect(online.filter(({ uuid }) => known.seen_ms(uuid) === undefined)).toEqual([hung])
})

test('where something changed is looked at soon, but not again and again', async () => {
  const { clock, looks, seen } = start(golden)
  await clock.pass(NODE_LOOK_S / 2)
  seen()
  const [node] = online
  for (let change = 0; change < 50; change++) {
    if (node) looks.soon(node.uuid)
    await clock.pass(NODE_LOOK_SOON_S / 50)
  }
  const looked = seen().filter(({ node: name }) => name === node?.name)
  expect(looked.length).toBeGreaterThanOrEqual(1)
  expect(looked.length).toBeLessThanOrEqual(2)
})

test('a node that answers slowly is looked at less often, however much changes there', async () => {
  const [slow] = online
  const { clock, looks, calls } = start(golden, (name) => name === slow?.name)
  let begun = 0
  for (let second = 0; second < 60; second++) {
    if (slow) looks.soon(slow.uuid)
    await clock.pass(1)
    for (const { node, call, answer } of calls.splice(0)) {
      if (node !== slow?.name) continue
      if (call === 'all_instances_info') begun++
      answer(ANSWERS[call])
    }
  }
  // A look takes a second at least.
  expect(begun).toBeGreaterThan(60 / NODE_LOOK_S)
  expect(begun).toBeLessThanOrEqual(60 * NODE_LOOKS_SHARE + 1)
})

test('nothing is kept of a node that left the cluster', async () => {
  const { clock, known, current } = start(golden)
  await clock.pass(1)
  const [gone, ...others] = online
  current.config = { ...golden, nodes: recordFrom(others.map((node) => [node.uuid, node])) }
  await clock.pass(NODE_LOOK_S)
  expect(gone && known.seen_ms(gone.uuid)).toBeUndefined()
})

test('a refusal of a node is logged, counted, and does not make its figures look new', async () => {
  const [odd] = online
  const { clock, known, calls, logged } = start(golden, (name) => name === odd?.name)
  for (let second = 0; second < NODE_LOOK_FAILED_EVERY_S + NODE_LOOK_S; second++) {
    await clock.pass(1)
    for (const { node, call, answer, fail } of calls.splice(0))
      if (node === odd?.name && call === 'node_info') fail('no storage')
      else answer(ANSWERS[call])
  }
  await clock.pass(1)
  expect(logged).toEqual([
    { reason: `${odd?.name}: no storage` },
    {
      times: expect.any(Number),
      seconds: NODE_LOOK_FAILED_EVERY_S,
      reasons: { [`${odd?.name}: no storage`]: expect.any(Number) },
    },
  ])
  expect(odd && [known.seen_ms(odd.uuid), known.runningSeen_ms(odd.uuid)]).toEqual([undefined, expect.any(Number)])
})

test('a look that cannot be made is logged, and others follow', async () => {
  const { clock, current, live, logged, seen } = start(golden)
  await clock.pass(1)
  seen()
  jest.spyOn(live, 'instanceInfo').mockRejectedValueOnce(new Error('cannot be written'))
  await clock.pass(NODE_LOOK_S)
  expect(logged).toMatchObject([{ reason: expect.stringContaining('cannot be written') }])
  const { config } = current
  Object.defineProperty(current, 'config', {
    configurable: true,
    get: () => {
      throw new Error('no configuration')
    },
  })
  await clock.pass(NODE_LOOK_S * 2)
  Object.defineProperty(current, 'config', { value: config })
  seen()
  await clock.pass(NODE_LOOK_S * 2)
  expect(seen().length).toBeGreaterThanOrEqual(online.length)
})

describe('a node is back', () => {
  const [first = raise(), second = raise()] = online

  test('when it answers again, once', async () => {
    let isAway = true
    const { clock, calls, returned } = start(golden, (node) => isAway && node === first.name)
    await clock.pass(1)
    for (const call of calls) if (call.node === first.name) call.fail('nothing listens there')
    await clock.pass(0)
    expect(returned).toEqual([])
    isAway = false
    await clock.pass(2 * NODE_LOOK_AGAIN_S)
    expect(returned).toEqual([first.name])
    await clock.pass(3 * NODE_LOOK_S)
    expect(returned).toEqual([first.name])
  })

  test('when its daemon has ended meanwhile, which is looked at soon', async () => {
    const { clock, looks, returned } = start(golden)
    await clock.pass(1)
    looks.hungUp(second.primary_ip)
    looks.hungUp('192.0.2.77')
    await clock.pass(2 * NODE_LOOK_SOON_S)
    expect(returned).toEqual([second.name])
  })

  function raise(): never {
    throw new Error('the recorded cluster has too few nodes')
  }
})
