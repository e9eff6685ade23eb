// Charts of an instance's last hours.
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api, got } from '../../api/client'
import type { components } from '../../api/schema'
import { Charts } from '../../parts/charts/charts'
import { type Figures, trafficOf } from '../../parts/charts/figures'
import { MEASURED } from '../../parts/charts/measured'
import { Nothing } from '../../parts/page'
import { texts } from '../../texts'

const own = texts.metrics

export function Metrics({ name }: { name: string }) {
  const { data, ...asking } = useQuery({
    queryKey: ['metrics', 'instance', name],
    queryFn: () => got(api.GET('/3/instances/{name}/metrics', { params: { path: { name } } })),
    ...MEASURED,
  })
  const charts = useMemo(() => (data === undefined ? [] : chartsOf(data)), [data])
  return (
    <>
      <Charts {...asking} measured={data} charts={charts} nothing={own.noneOfInstance} />
      {data?.missing.map(({ node, why }) => (
        <Nothing key={node} text={own.missing(node, why)} />
      ))}
    </>
  )
}

const chartsOf = (data: components['schemas']['InstanceMetrics']): Figures[] => [
  { title: own.processors, unit: 'number', lines: [{ label: own.busy, values: data.cpus_busy }] },
  { title: own.memory, unit: 'bytes', lines: [{ label: own.used, values: data.memory_bytes }] },
  ...trafficOf(data),
]
