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
  NODE_SILENT_S,
  NODE_SILENT_SLOW_S,
} from '../../../../src/model/limits/live-data'
import { recordFrom } from '../../../../src/config/records'
import { recordValues } from '../../../../src/config/records'
import type { ConfigData, Node, NodeUuid } from '../../../../src/model/config'
import { NodeCache } from '../../../../src/services/live-data/node-cache'
import { NodeLiveData } from '../../../../src/services/live-data/live-data'
import { NodePoller } from '../../../../src/services/live-data/node-poller'
import { NodeProber } from '../../../../src/services/live-data/node-prober'
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
  const questions = new NodeProber(client, clock, silentLog)
  const known = new NodeCache(clock)
  const live = new NodeLiveData(questions, clock, known)
  const current = { config }
  const returned: string[] = []
  const back = ({ name }: Node) => void returned.push(name)
  const turns: unknown[] = []
  const begun: number[] = []
  const probes = new NodePoller({
    ...{ clock, live, known, log, config: () => current.config, returned: back },
    turned: (node, change, why) => void turns.push([node.name, change, ...(why === undefined ? [] : [why])]),
    lookedAtAll: () => void begun.push(clock.monotonic_ms()),
    isSlow: (node) => questions.isSlow(node, ['all_instances_info', 'node_info']),
  })
  probes.start()
  stop = () => {
    probes.close()
    questions.close()
  }
  const observed = () => calls.splice(0).filter(({ call }) => call === 'all_instances_info')
  return { clock, known, looks: probes, seen: observed, current, calls, live, logged, returned, turns, begun }
}

test('every node is looked at, and again when what is known of it is old', async () => {
  const { clock, known, seen: observed } = start(golden)
  await clock.pass(1)
  expect(
    observed()
      .map(({ node }) => node)
      .sort(),
  ).toEqual(online.map(({ name }) => name).sort())
  const first_ms = online.map(({ uuid }) => known.seen_ms(uuid))
  await clock.pass(NODE_LOOK_S)
  expect(observed()).toHaveLength(online.length)
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
  const { clock, seen: observed } = start({ ...golden, nodes: recordFrom(many.map((one) => [one.uuid, one])) })
  for (let second = 0; second < 60; second++) {
    await clock.pass(1)
    expect(observed().length).toBeLessThanOrEqual(NODE_LOOKS_PER_S + 1)
  }
})

test('a node that hangs is looked at by its one probe', async () => {
  const [hung] = online
  const { clock, known, seen: observed } = start(golden, (name) => name === hung?.name)
  await clock.pass(LIVE_ANSWER_S + 10 * NODE_LOOK_AGAIN_S)
  expect(observed().filter(({ node }) => node === hung?.name)).toHaveLength(1)
  expect(online.filter(({ uuid }) => known.seen_ms(uuid) === undefined)).toEqual([hung])
})

test('where something changed is looked at soon, but not again and again', async () => {
  const { clock, looks: probes, seen: observed } = start(golden)
  await clock.pass(NODE_LOOK_S / 2)
  observed()
  const [node] = online
  for (let change = 0; change < 50; change++) {
    if (node) probes.soon(node.uuid)
    await clock.pass(NODE_LOOK_SOON_S / 50)
  }
  const looked = observed().filter(({ node: name }) => name === node?.name)
  expect(looked.length).toBeGreaterThanOrEqual(1)
  expect(looked.length).toBeLessThanOrEqual(2)
})

test('a node that answers slowly is looked at less often, however much changes there', async () => {
  const [slow] = online
  const { clock, looks: probes, calls } = start(golden, (name) => name === slow?.name)
  let begun = 0
  for (let second = 0; second < 60; second++) {
    if (slow) probes.soon(slow.uuid)
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
  const { clock, current, live, logged, seen: observed } = start(golden)
  await clock.pass(1)
  observed()
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
  observed()
  await clock.pass(NODE_LOOK_S * 2)
  expect(observed().length).toBeGreaterThanOrEqual(online.length)
})

test('when every node has been looked at once is told, also if one hangs', async () => {
  const [hung] = online
  const { clock, begun, known } = start(golden, (name) => name === hung?.name)
  await clock.pass(LIVE_ANSWER_S - 1)
  expect([begun, online.filter(({ uuid }) => known.seen_ms(uuid) !== undefined).length]).toEqual([
    [],
    online.length - 1,
  ])
  await clock.pass(2)
  expect(begun).toHaveLength(1)
  await clock.pass(5 * NODE_LOOK_S)
  expect(begun).toHaveLength(1)
})

const [first = raise(), second = raise()] = online

function raise(): never {
  throw new Error('the recorded cluster has too few nodes')
}

describe('what is known of a node', () => {
  const NO_ANSWER = `no answer within ${LIVE_ANSWER_S} s`

  async function knownOf({ known, live }: Pick<ReturnType<typeof start>, 'known' | 'live'>): Promise<boolean[]> {
    const source = known.insteadOf(live)
    const answers = [await source.instanceInfo(golden, [first]), await source.nodeInfo(golden, [first])]
    return answers.map((answer) => answer.get(first.uuid)?.ok === true)
  }

  /** Answers the calls to the node that wait, or refuses them. */
  const answer = ({ calls }: Pick<ReturnType<typeof start>, 'calls'>, refused: readonly string[] = []) => {
    for (const { node, call, answer: tell, fail } of calls.splice(0))
      if (node !== first.name) continue
      else if (refused.includes(call)) fail('it is ill')
      else tell(ANSWERS[call])
  }

  test('is told no more, once it has not answered for a while, and again when it answers', async () => {
    let isDead = false
    const parts = start(golden, (name) => isDead && name === first.name)
    const { clock, turns, known } = parts
    await clock.pass(NODE_LOOK_S)
    expect([await knownOf(parts), turns]).toEqual([[true, true], []])
    isDead = true
    const seen_ms = known.seen_ms(first.uuid)
    await clock.pass(NODE_LOOK_S + LIVE_ANSWER_S + NODE_SILENT_S + NODE_LOOK_AGAIN_S)
    expect([await knownOf(parts), turns]).toEqual([[false, false], [[first.name, 'silent', NO_ANSWER]]])
    expect(known.seen_ms(first.uuid)).toBeLessThanOrEqual((seen_ms ?? 0) + NODE_LOOK_S * 1000)
    await clock.pass(3 * NODE_LOOK_S)
    expect(turns).toHaveLength(1)
    isDead = false
    answer(parts)
    await clock.pass(2 * NODE_LOOK_AGAIN_S)
    expect([await knownOf(parts), turns.slice(1)]).toEqual([[true, true], [[first.name, 'back']]])
  })

  test('is told as soon as a master that has never heard it knows that it is silent', async () => {
    const parts = start(golden, (name) => name === first.name)
    await parts.clock.pass(LIVE_ANSWER_S + NODE_SILENT_S + NODE_LOOK_AGAIN_S)
    expect(parts.turns).toEqual([[first.name, 'silent', NO_ANSWER]])
  })

  test('stays while its daemon is only started anew', async () => {
    let isRestarting = false
    const parts = start(golden, (name) => isRestarting && name === first.name)
    await parts.clock.pass(1)
    isRestarting = true
    parts.looks.hungUp(first.primary_ip)
    await parts.clock.pass(NODE_LOOK_SOON_S)
    answer(parts, Object.keys(ANSWERS))
    isRestarting = false
    await parts.clock.pass(NODE_LOOK_S)
    expect([await knownOf(parts), parts.turns, parts.returned]).toEqual([[true, true], [], [first.name]])
  })

  test('that refuses a question is told as far as it answers', async () => {
    let isIll = false
    const parts = start(golden, (name) => isIll && name === first.name)
    await parts.clock.pass(1)
    isIll = true
    for (let second = 0; second < NODE_LOOK_S + 2 * NODE_SILENT_S; second++) {
      await parts.clock.pass(1)
      answer(parts, ['node_info'])
    }
    expect([await knownOf(parts), parts.turns]).toEqual([[true, false], []])
  })

  test('that answers late stays; one that owes an answer for long is silent too', async () => {
    let isSlow = false
    const parts = start(golden, (name) => isSlow && name === first.name)
    const { clock, calls, turns } = parts
    await clock.pass(1)
    isSlow = true
    let late = () => undefined as void
    const live = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        await clock.pass(1)
        for (const { node, call, answer: tell } of calls.splice(0))
          if (node !== first.name) continue
          else if (call === 'version') tell(1)
          else late = () => tell(ANSWERS[call])
      }
    }
    await live(NODE_LOOK_S + LIVE_ANSWER_S + 2 * NODE_SILENT_S)
    expect([await knownOf(parts), turns]).toEqual([[true, true], []])
    late()
    await live(NODE_SILENT_SLOW_S)
    // It is not asked about itself before it has told what runs.
    expect([await knownOf(parts), turns]).toEqual([[true, false], []])
    await live(NODE_LOOK_S + LIVE_ANSWER_S)
    expect([await knownOf(parts), turns]).toEqual([[false, false], [[first.name, 'silent', NO_ANSWER]]])
  })
})

describe('a node is back', () => {
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
    const { clock, looks: probes, returned } = start(golden)
    await clock.pass(1)
    probes.hungUp(second.primary_ip)
    probes.hungUp('192.0.2.77')
    await clock.pass(2 * NODE_LOOK_SOON_S)
    expect(returned).toEqual([second.name])
  })
})
