import { silentLog } from '../../../src/lib/log'
import { LIVE_ANSWER_S, NODE_PROBE_PAUSE_S, NODE_PROBE_UNWANTED_S } from '../../../src/model/limits'
import type { Node } from '../../../src/model/node'
import { NO_ANSWER } from '../../../src/rpc/node/client'
import { NodeQuestions } from '../../../src/services/node-questions'
import { fakeNodes } from '../../support/fake-nodes'
import { goldenConfig } from '../../support/golden-query'
import { SteppedClock, settled } from '../../support/stepped-clock'

const nodes = Object.values(goldenConfig().nodes)
const nodeAt = (index: number): Node => {
  const node = nodes[index]
  if (node === undefined) throw new Error('the recorded cluster has too few nodes')
  return node
}
const hung = nodeAt(0)

function start() {
  const { client, calls } = fakeNodes()
  const clock = new SteppedClock()
  const questions = new NodeQuestions(client, clock, silentLog)
  const heard: unknown[] = []
  const returned: string[] = []
  questions.onReturn((node) => returned.push(node))
  const ask = (node = hung) => questions.ask(node, 'export_list', [], (payload) => heard.push(payload))
  /** Asks, and lets the limit pass. */
  const hang = async () => {
    const answer = ask()
    await clock.pass(LIVE_ANSWER_S)
    return answer
  }
  return { calls, clock, questions, heard, returned, ask, hang }
}

test('a question waits no longer than its limit', async () => {
  const { calls, ask, clock } = start()
  const answer = ask()
  await clock.pass(LIVE_ANSWER_S - 0.1)
  expect(await Promise.race([answer, settled()])).toBeUndefined()
  await clock.pass(0.1)
  expect(await answer).toBe(NO_ANSWER)
  expect(calls).toHaveLength(1)
})

test('a node that let a question pass is not asked by others, who need not wait', async () => {
  const { calls, ask, hang, questions } = start()
  await hang()
  expect(await ask()).toBe(NO_ANSWER)
  expect(await questions.all([hung], 'node_info', [[], []])).toEqual(new Map([[hung.uuid, NO_ANSWER]]))
  await expect(questions.one(hung, 'version', [])).rejects.toThrow('no answer within')
  expect(calls).toHaveLength(1)
})

test('who waits for another answer of the node gives up when it falls silent', async () => {
  const { ask, clock, hang } = start()
  const first = hang()
  await clock.pass(LIVE_ANSWER_S / 2)
  const later = ask()
  await clock.pass(LIVE_ANSWER_S / 2)
  expect(await Promise.all([first, later])).toEqual([NO_ANSWER, NO_ANSWER])
})

test('the answer that a node owes ends its silence, and is heard although nobody waits for it', async () => {
  const { calls, ask, hang, heard, returned } = start()
  await hang()
  calls[0]?.answer(['late'])
  await settled()
  expect([heard, returned]).toEqual([[['late']], [hung.uuid]])
  const answer = ask()
  calls[1]?.answer(['soon'])
  expect(await answer).toEqual({ ok: true, payload: ['soon'] })
})

test('one probe at a time goes to a silent node until it answers', async () => {
  const { calls, ask, clock, hang, heard, questions } = start()
  await hang()
  await clock.pass(120)
  for (const probe of [1, 2]) {
    expect(calls).toHaveLength(probe)
    await clock.pass(60)
    calls.at(-1)?.fail('no answer within 60 s')
    for (let asked = 0; asked < 10; asked++) await ask()
    await clock.pass(NODE_PROBE_PAUSE_S)
    expect(questions.isSilent(hung.uuid)).toBe(true)
  }
  calls.at(-1)?.answer(['again'])
  await clock.pass(NODE_PROBE_PAUSE_S * 10)
  expect([calls.length, heard, questions.isSilent(hung.uuid)]).toEqual([3, [['again']], false])
})

test('a node that refuses soon is not silent: to ask it costs nobody time', async () => {
  const { calls, ask, clock, hang, questions } = start()
  await hang()
  calls[0]?.fail('no connection within 5 s')
  await clock.pass(NODE_PROBE_PAUSE_S)
  calls[1]?.fail('nothing listens')
  await settled()
  expect(questions.isSilent(hung.uuid)).toBe(false)
  const answer = ask()
  calls[2]?.fail('nothing listens')
  expect(await answer).toMatchObject({ ok: false, error: 'nothing listens' })
})

test('a node that falls silent anew has one probe still', async () => {
  const { calls, clock, hang } = start()
  await hang()
  calls[0]?.fail('no answer')
  await clock.pass(NODE_PROBE_PAUSE_S)
  calls[1]?.answer([])
  await settled()
  await hang()
  calls[2]?.fail('no answer')
  await clock.pass(NODE_PROBE_PAUSE_S * 10)
  expect(calls).toHaveLength(4)
})

test('other nodes are asked as ever', async () => {
  const { calls, ask, hang } = start()
  await hang()
  const answer = ask(nodeAt(1))
  calls[1]?.answer(['here'])
  expect(await answer).toEqual({ ok: true, payload: ['here'] })
})

test('a node that nobody asks about is probed no more', async () => {
  const { calls, clock, hang, questions } = start()
  await hang()
  await clock.pass(NODE_PROBE_UNWANTED_S + 1)
  calls[0]?.fail('no answer')
  await clock.pass(NODE_PROBE_PAUSE_S * 10)
  expect([calls.length, questions.isSilent(hung.uuid)]).toEqual([1, false])
})
