// Figures of nodes are gathered in slices.
import { recordFrom, recordValues } from '../../../../src/config/records'
import { type Log, silentLog } from '../../../../src/lib/log'
import type { Node, NodeUuid } from '../../../../src/model/config'
import { NODES_ASKED_AT_ONCE } from '../../../../src/model/limits/node-calls'
import { Measures } from '../../../../src/services/live-data/measures'
import { AggregatorRegistry } from 'prom-client'
import { pathsOf } from '../../../../src/lib/paths'
import { openNodeClient } from '../../../../src/rpc/node/client'
import { NodeProber } from '../../../../src/services/live-data/node-prober'
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
const NAME = 'gantry_node_call_duration_seconds'
const series = (call: string) => ({ metricName: `${NAME}_count`, labels: { call }, value: 1 })
const namedOnly = (all: unknown[][]) =>
  all.filter((reported) => reported.every((one) => typeof one === 'object')) as never[]
const wconfd = { gantryMetrics: async () => ['wconfd'] }

test('a look at the figures asks the nodes in slices, and shows what they told before', async () => {
  const { client, calls } = fakeNodes()
  const questions = new NodeProber(client, clock, silentLog)
  const measures = new Measures({ config: () => config, clock, log: silentLog, questions, wconfd })
  const first = measures.told()
  expect(calls).toHaveLength(NODES_ASKED_AT_ONCE)
  const textOf = async (reported: Promise<unknown[][]>) => JSON.stringify(await reported)
  expect(await textOf(first)).toMatch(/wconfd/)
  while (calls.length < nodes.length) await settled()
  void measures.told()
  await settled()
  expect(calls).toHaveLength(nodes.length)
  for (const { answer } of calls) answer([{ name: NAME, values: [series('version'), series('a_newer_call')] }])
  await settled()
  const reported = await AggregatorRegistry.aggregate(namedOnly(await measures.told())).metrics()
  for (const { name } of nodes) expect(reported).toContain(`${NAME}_count{node="${name}",call="version"} 1`)
  expect(reported).not.toContain('a_newer_call')
})

test('a question that cannot be asked is logged, and asked again at the next look', async () => {
  const warned: unknown[] = []
  const log = { warn: (fields: unknown) => void warned.push(fields) } as unknown as Log
  const ask = jest.fn().mockRejectedValue(new Error('cannot be written'))
  const only = { ...config, nodes: recordFrom(nodes.slice(0, 1).map((node) => [node.uuid, node])) }
  const measures = new Measures({ config: () => only, clock, log, questions: { ask }, wconfd })
  for (const look of [1, 2]) {
    await measures.told()
    await settled()
    expect([ask.mock.calls.length, warned.length]).toEqual([look, look])
  }
})

test('figures that cannot be read are left out, counted and logged', async () => {
  const warned: unknown[] = []
  const log = { warn: (fields: unknown) => void warned.push(fields) } as unknown as Log
  const only = { ...config, nodes: recordFrom(nodes.slice(0, 2).map((node) => [node.uuid, node])) }
  let value = 1
  const transport = {
    exchange: async ({ name }: { name: string }) =>
      JSON.stringify([
        true,
        [{ name: NAME, values: [{ ...series('version'), value: name === 'node-0' ? value : 1 }] }],
      ]),
    close: () => undefined,
  }
  const questions = new NodeProber(openNodeClient({ paths: pathsOf('', 'node1'), transport }), clock, silentLog)
  const measures = new Measures({ config: () => only, clock, log, questions, wconfd })
  const look = async () => {
    await measures.told()
    await settled()
    return AggregatorRegistry.aggregate(namedOnly(await measures.told())).metrics()
  }
  expect(await look()).toContain(`${NAME}_count{node="node-0",call="version"} 1`)
  value = -1
  await look()
  await settled()
  const text = await look()
  expect(text).not.toContain(`${NAME}_count{node="node-0",call="version"}`)
  expect(text).toContain(`${NAME}_count{node="node-1",call="version"} 1`)
  expect(text).toMatch(/^gantry_node_figures_refused_total\{node="node-0"\} [1-9]/m)
  expect(warned).toContainEqual({
    node: 'node-0',
    reason: expect.stringMatching(/gantry_metrics has another shape.*at least 0/),
  })
})
