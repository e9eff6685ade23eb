// Figures of nodes are gathered in slices.
import { recordFrom, recordValues } from '../../../../src/config/records'
import { type Log, silentLog } from '../../../../src/lib/log'
import type { Node, NodeUuid } from '../../../../src/model/config'
import { NODES_ASKED_AT_ONCE } from '../../../../src/model/limits/node-calls'
import { Measures } from '../../../../src/services/live-data/measures'
import { NodeQuestions } from '../../../../src/services/live-data/node-questions'
import { fakeNodes } from '../../../support/fake-nodes'
import { goldenConfig } from '../../../support/golden-query'
import { SteppedClock, settled } from '../../../support/stepped-clock'

const golden = goldenConfig()
const some = recordValues(golden.nodes).find(({ offline }) => !offline)
const nodes = Array.from({ length: NODES_ASKED_AT_ONCE * 5 }, (_, index) => ({
  ...(some as Node),
  uuid: `node-${index}` as NodeUuid,
  name: `node-${index}`,
}))
const config = { ...golden, nodes: recordFrom(nodes.map((node) => [node.uuid, node])) }
const clock = new SteppedClock()
const wconfd = { gantryMetrics: async () => ['wconfd'] }

test('a look at the figures asks the nodes in slices, and shows what they told before', async () => {
  const { client, calls } = fakeNodes()
  const questions = new NodeQuestions(client, clock, silentLog)
  const measures = new Measures({ config: () => config, clock, log: silentLog, questions, wconfd })
  const first = measures.told()
  expect(calls).toHaveLength(NODES_ASKED_AT_ONCE)
  expect(await first).toEqual([['wconfd']])
  while (calls.length < nodes.length) await settled()
  void measures.told()
  await settled()
  expect(calls).toHaveLength(nodes.length)
  for (const { node, answer } of calls) answer([node])
  await settled()
  expect(new Set((await measures.told()).flat())).toEqual(new Set(['wconfd', ...nodes.map(({ name }) => name)]))
})

test('a question that cannot be asked is logged, and asked again at the next look', async () => {
  const warned: unknown[] = []
  const log = { warn: (fields: unknown) => void warned.push(fields) } as unknown as Log
  const ask = jest.fn().mockRejectedValue(new Error('cannot be written'))
  const only = { ...config, nodes: recordFrom(nodes.slice(0, 1).map((node) => [node.uuid, node])) }
  const measures = new Measures({ config: () => only, clock, log, questions: { ask }, wconfd })
  for (const look of [1, 2]) {
    expect(await measures.told()).toEqual([['wconfd']])
    await settled()
    expect([ask.mock.calls.length, warned.length]).toEqual([look, look])
  }
})
