// Nodes are knocked at before somebody waits for them.
import { LIVE_ANSWER_S } from '../../../../src/model/limits/live-data'
import { answeringNodes } from '../../../../src/rpc/node/answering'
import { NO_ANSWER } from '../../../../src/rpc/node/client'
import { fakeNodes } from '../../../support/fake-nodes'
import { goldenConfig } from '../../../support/golden-query'
import { SteppedClock, settled } from '../../../support/stepped-clock'

const nodes = Object.values(goldenConfig().nodes).filter(({ offline }) => !offline)
const [hung, well] = nodes

function start() {
  const { client, calls } = fakeNodes((call, { uuid }) => (call === 'version' && uuid !== hung?.uuid ? 62 : undefined))
  const clock = new SteppedClock()
  return { calls, clock, nodes: answeringNodes(client, clock) }
}

test('a node that hangs costs a question its limit once, however much is asked', async () => {
  const { calls, clock, nodes: answering } = start()
  const first = answering.all(nodes, 'export_list', [])
  await clock.pass(LIVE_ANSWER_S)
  for (const { call, answer } of calls) if (call === 'export_list') answer(['there'])
  const answers = await first
  expect([hung && answers.get(hung.uuid), well && answers.get(well.uuid)]).toEqual([
    NO_ANSWER,
    { ok: true, payload: ['there'] },
  ])
  const again = hung && answering.one(hung, 'export_list', [])
  await expect(again).rejects.toThrow('no answer within')
  expect(calls.filter(({ node }) => node === hung?.name).map(({ call }) => call)).toEqual(['version'])
})

test('a slow answer of a node that is well is waited for', async () => {
  const { calls, clock, nodes: answering } = start()
  const answer = well && answering.one(well, 'export_list', [])
  await clock.pass(10 * LIVE_ANSWER_S)
  calls.at(-1)?.answer(['at last'])
  expect(await answer).toEqual(['at last'])
})

test('each node is knocked at once', async () => {
  const { calls, nodes: answering } = start()
  for (let requested = 0; requested < 3; requested++) void answering.all(nodes, 'export_list', [])
  await settled()
  expect(calls.filter(({ call }) => call === 'version')).toHaveLength(nodes.length)
})
