// Charts of a node's last hours.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, got } from '../../api/client'
import type { components } from '../../api/schema'
import { Charts } from '../../parts/charts/charts'
import { type Figures, trafficOf } from '../../parts/charts/figures'
import { MEASURED } from '../../parts/charts/measured'
import { texts } from '../../texts'

const own = texts.metrics

export function Metrics({ name }: { name: string }) {
  const { data, ...asking } = useQuery({
    queryKey: ['metrics', 'node', name],
    queryFn: () => got(api.GET('/3/nodes/{name}/metrics', { params: { path: { name } } })),
    ...MEASURED,
  })
  const charts = useMemo(() => (data === undefined ? [] : chartsOf(data)), [data])
  return <Charts {...asking} measured={data} charts={charts} nothing={own.noneOfNode} />
}

const chartsOf = (data: components['schemas']['NodeMetrics']): Figures[] => [
  {
    ...{ title: own.load, unit: 'number' },
    lines: [
      { label: own.loadAverage, values: data.load },
      { label: own.busy, values: data.cpus_busy },
    ],
  },
  {
    ...{ title: own.memory, unit: 'bytes' },
    lines: [
      { label: own.used, values: data.memory_used_bytes },
      { label: own.total, values: data.memory_total_bytes },
    ],
  },
  ...trafficOf(data),
]
