// The last reports of the nodes' monitoring daemons, as figures for /metrics. Ganeti's exporter does not know them, so
// all names are ours.
import type { Gauge } from 'prom-client'
import type { MeasuredNode } from '../../rpc/luxi/monitoring'

type NewGauge = (title: string, help: string, labelNames?: readonly string[]) => Gauge
type Figure = (one: MeasuredNode) => number | null | undefined

/** A node that was never asked has no figure. An offline node has none either. */
const FIGURES: readonly (readonly [name: string, help: string, figure: Figure])[] = [
  ['monitoring_up', 'Whether the monitoring daemon of the node sent its reports when it was last asked', upOf],
  ['monitoring_age_seconds', 'Time since the node measured the figures that it sent last', (one) => one.age_s],
  ['status_code', 'The worst that the node reports: 0 ok, 1 healing, 2 unknown, 4 bad', statusOf],
  ['clock_ahead_seconds', "The node's clock minus the master's", (one) => one.clock_ahead_s],
  ['load1', 'Load average of the last minute', ({ figures }) => figures.load],
  ['busy_cpus', 'Processors at work, averaged over ten minutes', ({ figures }) => figures.cpu_load],
  ['cpus', 'Processors that the node has', ({ figures }) => figures.cpus],
  ['memory_total_bytes', 'Memory of the node', ({ figures }) => figures.memory_total_bytes],
  [
    'memory_free_bytes',
    'Memory that is free or can be freed when it is needed',
    ({ figures }) => figures.memory_free_bytes,
  ],
  [
    'storage_size_bytes',
    'Space of the storage with the smallest free share',
    ({ figures }) => figures.storage?.size_bytes,
  ],
  [
    'storage_free_bytes',
    'Free space of the storage with the smallest free share',
    ({ figures }) => figures.storage?.free_bytes,
  ],
]

function upOf({ up }: MeasuredNode): number | null {
  return up === null ? null : Number(up)
}

function statusOf({ up, status }: MeasuredNode): number | null {
  return up === null ? null : status
}

export function monitoringMetrics(gauge: NewGauge, nodes: readonly MeasuredNode[]): void {
  for (const [name, help, figure] of FIGURES) {
    const values = gauge(`gantry_node_${name}`, help, ['node'])
    for (const one of nodes) {
      const value = figure(one)
      if (typeof value === 'number') values.set({ node: one.node }, value)
    }
  }
  const help = 'What a collector reports about its node: 0 ok, 1 healing, 2 unknown, 4 bad'
  const codes = gauge('gantry_node_collector_status_code', help, ['node', 'category', 'collector'])
  for (const { node, codes: reported } of nodes)
    for (const [category, collector, code] of reported) codes.set({ node, category, collector }, code)
}
