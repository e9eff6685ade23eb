// A node's figures are read as far as the master knows them, and refused if they could mislead.
import { NodeMeasures } from '../../../../src/node/measures'
import { CALL_SERIES_MAX } from '../../../../src/model/limits/node-calls'
import { decodeResult } from '../../../../src/rpc/node/protocol'

const NAME = 'gantry_node_call_duration_seconds'
const read = (answer: unknown) => decodeResult('gantry_metrics', 'node1', answer)
const metric = (values: unknown, name = NAME) => [{ help: 'x', name, type: 'histogram', values, aggregator: 'sum' }]
const count = { metricName: `${NAME}_count`, labels: { node: 'node1', call: 'version' }, value: 1 }
const bucket = { ...count, metricName: `${NAME}_bucket`, labels: { call: 'version', le: 5 } }

test('what our nodes tell is read, without the name that the node gives itself', async () => {
  const measures = new NodeMeasures('somebody else')
  measures.carriedOut('version', 0.01)
  const [reported, ...others] = read(JSON.parse(JSON.stringify(await measures.told())))
  expect(others).toEqual([])
  expect(reported?.values).toHaveLength(8)
  expect(reported?.values).toContainEqual({
    metricName: `${NAME}_bucket`,
    labels: { call: 'version', le: 0.05 },
    value: 1,
  })
  expect(reported?.values).toContainEqual({ metricName: `${NAME}_sum`, labels: { call: 'version' }, value: 0.01 })
})

test('other metrics are left out, whatever their names', () => {
  const forged = ['ganeti_instance_forged', 'a\nb 1', '__proto__'].flatMap((name) =>
    metric([{ labels: {}, value: 7 }], name),
  )
  expect(read([...forged, ...metric([count])])).toEqual([
    { name: NAME, values: [{ ...count, labels: { call: 'version' } }] },
  ])
})

test.each([
  ['no list', {}],
  ['a name that is no text', [{ help: 1, name: { a: 1 }, type: 'gauge', values: 'x', aggregator: 'nosuch' }]],
  ['values that are no list', metric('x')],
  ['another part of the metric', metric([{ ...count, metricName: 'up' }])],
  ['no part of the metric', metric([{ ...count, metricName: undefined }])],
  ['an unknown label', metric([{ ...count, labels: { call: 'version', instance: 'vm-a' } }])],
  ['a label that is an object', metric([{ ...count, labels: { call: {} } }])],
  ['no call', metric([{ ...count, labels: {} }])],
  ['an unknown bucket', metric([{ ...bucket, labels: { call: 'version', le: 7 } }])],
  ['no number', metric([{ ...count, value: 'NaN' }])],
  ['null, as JSON has NaN', metric([{ ...count, value: null }])],
  ['a negative count', metric([{ ...count, value: -1 }])],
  ['a number beyond all sums', metric([{ ...count, value: 1e308 }])],
  ['one series twice', [...metric([count]), ...metric([bucket, count])]],
  [
    'too many',
    metric(Array.from({ length: CALL_SERIES_MAX + 1 }, (_, n) => ({ ...count, labels: { call: `c${n}` } }))),
  ],
])('%s is no answer', (_, answer) => {
  expect(() => read(answer)).toThrow('the answer of node1 to gantry_metrics has another shape: ')
})
