// What a node tells about itself for /metrics, as prom-client's JSON: how long its calls took. The master puts together
// what nodes tell, so it reads only what it knows. A node chooses neither names, texts and labels, nor how values are
// added up. Metrics of a newer version are left out.
import { dictOf, listOf } from '../../lib/shapes/containers'
import { json, oneOf, string, stringOrNumber } from '../../lib/shapes/leaves'
import { Mismatch, parsePart, type Shape } from '../../lib/shapes/shape'
import { CALL_SERIES_MAX } from '../../model/limits/node-calls'
import { amount, known } from './shapes'

export const CALL_DURATION = {
  name: 'gantry_node_call_duration_seconds',
  help: 'Time that a node took to carry out a call',
  labelNames: ['node', 'call'],
  buckets: [0.005, 0.05, 0.5, 5, 60],
} as const

export interface Figures {
  readonly name: string
  readonly values: readonly Figure[]
}

/** A series. As the master reads it, it does not name the node: the master knows whom it has asked. */
export interface Figure {
  readonly metricName?: string
  readonly labels: Readonly<Record<string, string | number | undefined>>
  readonly value: number
}

const [BUCKET, SUM, COUNT] = ['bucket', 'sum', 'count'].map((part) => `${CALL_DURATION.name}_${part}`)
const EDGES: ReadonlySet<unknown> = new Set([...CALL_DURATION.buckets, '+Inf'])

const series = known({
  metricName: oneOf(
    'MetricName',
    [BUCKET, SUM, COUNT].flatMap((name) => name ?? []),
  ),
  labels: dictOf(stringOrNumber, string),
  value: amount,
})

const metrics = listOf(known({ name: string, values: json }))

export const figures: Shape<readonly Figures[]> = {
  schema: metrics.schema,
  parse(value) {
    const own = metrics.parse(value).filter(({ name }) => name === CALL_DURATION.name)
    const reported = own.flatMap(({ values }) => parsePart(listOf(series), values, 'field', 'values'))
    if (reported.length > CALL_SERIES_MAX) throw new Mismatch(`more than ${CALL_SERIES_MAX} series`)
    const values = reported.map((one) => ({ ...one, labels: labelsOf(one.metricName, one.labels) }))
    const different = new Set(
      values.map(({ metricName, labels: { call, le } }) => JSON.stringify([metricName, call, le])),
    )
    if (different.size < values.length) throw new Mismatch('a series appears twice')
    return [
      {
        name: CALL_DURATION.name,
        values: values.map(({ metricName, labels, value }) => ({ metricName, labels, value })),
      },
    ]
  },
}

interface Labels {
  readonly call: string
  readonly le?: string | number
}

function labelsOf(metricName: string, labels: Readonly<Record<string, string | number>>): Labels & Figure['labels'] {
  const { call, le, node: _node, ...others } = labels
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) throw new Mismatch(`a series has the unknown label ${JSON.stringify(unknown)}`)
  if (typeof call !== 'string') throw new Mismatch('a series names no call')
  if (metricName !== BUCKET) return { call }
  if (le === undefined || !EDGES.has(le)) throw new Mismatch('a series has no known bucket')
  return { le, call }
}
