// A node that does not answer holds up nobody.
import { silentLog } from '../../../../src/lib/log'
import {
  LIVE_ANSWER_S,
  NODE_KNOCK_S,
  NODE_PROBE_PAUSE_S,
  NODE_PROBE_UNWANTED_S,
} from '../../../../src/model/limits/live-data'
import type { Node } from '../../../../src/model/node'
import { NO_ANSWER } from '../../../../src/rpc/node/client'
import { NodeProber } from '../../../../src/services/live-data/node-prober'
import { fakeNodes } from '../../../support/fake-nodes'
import { goldenConfig } from '../../../support/golden-query'
import { SteppedClock, settled } from '../../../support/stepped-clock'

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
  const questions = new NodeProber(client, clock, silentLog)
  const received: unknown[] = []
  const returned: string[] = []
  questions.onReturn((node) => returned.push(node))
  const ask = (node = hung) => questions.ask(node, 'export_list', [], (payload) => received.push(payload))
  /** Asks, and lets the limit pass. */
  const hang = async () => {
    const answer = ask()
    await clock.pass(LIVE_ANSWER_S)
    return answer
  }
  const requested = (call: string) => calls.filter((one) => one.call === call)
  return { calls, asked: requested, clock, questions, heard: received, returned, ask, hang }
}

test('a question waits no longer than its limit', async () => {
  const { asked: requested, ask, clock } = start()
  const answer = ask()
  await clock.pass(LIVE_ANSWER_S - 0.1)
  expect(await Promise.race([answer, settled()])).toBeUndefined()
  await clock.pass(0.1)
  expect(await answer).toBe(NO_ANSWER)
  expect(requested('export_list')).toHaveLength(1)
})

test('a node that answers nothing is not asked by others, who need not wait', async () => {
  const { calls, ask, hang, questions } = start()
  await hang()
  expect(calls.map(({ call }) => call)).toEqual(['export_list', 'version'])
  expect(await ask()).toBe(NO_ANSWER)
  expect(await questions.all([hung], 'node_info', [[], []])).toEqual(new Map([[hung.uuid, NO_ANSWER]]))
  await expect(questions.one(hung, 'os_diagnose', [])).rejects.toThrow('no answer within')
  expect(calls).toHaveLength(2)
})

test('a node that is late with one kind of answer is asked for others, and for that one when it has come', async () => {
  const { calls, asked: requested, ask, clock, questions, heard: received, returned } = start()
  const late = ask()
  await clock.pass(LIVE_ANSWER_S - NODE_KNOCK_S)
  requested('version')[0]?.answer(60)
  await clock.pass(NODE_KNOCK_S)
  expect(await late).toBe(NO_ANSWER)
  for (let again = 0; again < 10; again++) expect(await ask()).toBe(NO_ANSWER)
  expect(calls).toHaveLength(2)
  const other = questions.ask(hung, 'os_diagnose', [])
  requested('os_diagnose')[0]?.answer([])
  expect(await other).toEqual({ ok: true, payload: [] })
  requested('export_list')[0]?.answer(['late'])
  await settled()
  const soon = ask()
  requested('export_list')[1]?.answer(['soon'])
  expect([await soon, received, returned]).toEqual([{ ok: true, payload: ['soon'] }, [['late'], ['soon']], []])
})

test('a node that answers anything while it is asked whether it does is not silent', async () => {
  const { calls, ask, clock, questions } = start()
  const late = ask()
  await clock.pass(LIVE_ANSWER_S - NODE_KNOCK_S / 2)
  const other = questions.ask(hung, 'os_diagnose', [])
  calls.at(-1)?.answer([])
  await clock.pass(NODE_KNOCK_S)
  expect([await late, await other]).toEqual([NO_ANSWER, { ok: true, payload: [] }])
  const more = questions.ask(hung, 'os_diagnose', [])
  calls.at(-1)?.answer([])
  expect(await more).toEqual({ ok: true, payload: [] })
})

test('a caller that waits for another answer of the node gives up when it falls silent', async () => {
  const { questions, clock, hang } = start()
  const first = hang()
  await clock.pass(LIVE_ANSWER_S / 2)
  const later = questions.ask(hung, 'os_diagnose', [])
  await clock.pass(LIVE_ANSWER_S / 2)
  expect(await Promise.all([first, later])).toEqual([NO_ANSWER, NO_ANSWER])
})

test('the answer that a node owes ends its silence, and is heard although nobody waits for it', async () => {
  const { calls, ask, hang, heard: received, returned } = start()
  await hang()
  calls[0]?.answer(['late'])
  await settled()
  expect([received, returned]).toEqual([[['late']], [hung.uuid]])
  const answer = ask()
  calls.at(-1)?.answer(['soon'])
  expect(await answer).toEqual({ ok: true, payload: ['soon'] })
})

test('one probe at a time goes to a silent node until it answers', async () => {
  const { calls, asked: requested, ask, clock, hang, returned } = start()
  await hang()
  calls[0]?.fail('no answer within 60 s')
  await clock.pass(120)
  for (const probe of [1, 2]) {
    expect(requested('version')).toHaveLength(probe)
    await clock.pass(60)
    requested('version').at(-1)?.fail('no answer within 60 s')
    for (let again = 0; again < 10; again++) expect(await ask()).toBe(NO_ANSWER)
    await clock.pass(NODE_PROBE_PAUSE_S)
  }
  expect(returned).toEqual([])
  requested('version').at(-1)?.answer(60)
  await clock.pass(NODE_PROBE_PAUSE_S * 10)
  expect([calls.length, returned]).toEqual([4, [hung.uuid]])
})

test('a node that refuses soon is not silent: to ask it costs nobody time', async () => {
  const { calls, ask, clock, hang } = start()
  await hang()
  for (const call of calls) call.fail('no connection within 5 s')
  await clock.pass(NODE_PROBE_PAUSE_S)
  calls.at(-1)?.fail('nothing listens')
  await settled()
  const answer = ask()
  calls.at(-1)?.fail('nothing listens')
  expect(await answer).toMatchObject({ ok: false, error: 'nothing listens' })
})

test('a node that falls silent anew has one probe still', async () => {
  const { calls, asked: requested, clock, hang } = start()
  await hang()
  await clock.pass(LIVE_ANSWER_S)
  for (const call of calls) call.fail('no answer')
  await clock.pass(NODE_PROBE_PAUSE_S)
  calls.at(-1)?.answer(60)
  await settled()
  await hang()
  await clock.pass(LIVE_ANSWER_S)
  calls.at(-1)?.fail('no answer')
  await clock.pass(NODE_PROBE_PAUSE_S * 10)
  expect([requested('export_list').length, requested('version').length]).toEqual([2, 4])
})

test('other nodes are asked as ever', async () => {
  const { calls, ask, hang } = start()
  await hang()
  const answer = ask(nodeAt(1))
  calls.at(-1)?.answer(['here'])
  expect(await answer).toEqual({ ok: true, payload: ['here'] })
})

test('a node that nobody asks about is probed no more', async () => {
  const { calls, clock, hang, questions, returned } = start()
  await hang()
  await clock.pass(NODE_PROBE_UNWANTED_S + 1)
  for (const call of calls) call.fail('no answer')
  await clock.pass(NODE_PROBE_PAUSE_S * 10)
  expect([calls.length, returned]).toEqual([2, []])
  void questions.ask(hung, 'os_diagnose', [])
  expect(calls).toHaveLength(3)
})
