// /metrics for Prometheus: the collectors' own state, and their findings about the node.
import type { Figures } from '../../collectors/monitor'
import { Gauge, Registry } from 'prom-client'
import { NO_CATEGORY } from '../../model/constants/collectors'
import type { MondOptions } from './context'

type Measured = Pick<MondOptions, 'monitor' | 'clock' | 'configAge_s'>

export async function metricsOf({ monitor, clock, configAge_s }: Measured): Promise<{ text: string; type: string }> {
  const registry = new Registry()
  const all = await monitor.figures()
  const gauge = (name: string, help: string, of: (one: Figures) => number | undefined) => {
    const values = new Gauge({ name, help, labelNames: ['collector', 'category'], registers: [registry] })
    for (const figures of all) {
      const { name: collector, category } = figures.watched
      const value = of(figures)
      if (value !== undefined) values.set({ collector, category: category ?? NO_CATEGORY }, value)
    }
  }
  const now_ms = clock.monotonic_ms()
  gauge(
    'gantry_collector_status_code',
    'What it says of the node: 0 ok, 1 healing, 2 unknown, 4 bad',
    (one) => one.status?.code,
  )
  gauge('gantry_collector_looks', 'Looks since it was switched on', (one) => one.looks)
  gauge('gantry_collector_failures', 'Looks at which nothing was collected', (one) => one.failures)
  gauge('gantry_collector_interval_seconds', 'Time between two looks', (one) => one.pace.interval_s)
  gauge('gantry_collector_cost_seconds', 'Time that a look takes', (one) => one.pace.cost_ms / 1000)
  gauge('gantry_collector_age_seconds', 'Time since the last look', ({ seen_ms }) =>
    seen_ms === undefined ? undefined : (now_ms - seen_ms) / 1000,
  )
  const age = new Gauge({
    name: 'gantry_collector_settings_age_seconds',
    help: 'Time since confd told the settings of collectors',
    registers: [registry],
  })
  const age_s = configAge_s()
  if (age_s === undefined) age.remove()
  else age.set(age_s)
  return { text: await registry.metrics(), type: Registry.PROMETHEUS_CONTENT_TYPE }
}
