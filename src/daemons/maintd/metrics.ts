// /metrics for Prometheus: events by status, and the daemon's own state.
import { Gauge, Registry } from 'prom-client'
import { REPAIR_STATUSES } from '../../model/maintenance'
import type { MaintenanceLoopMetrics } from '../../maintenance/loop'
import type { MaintenanceView } from '../../model/maintenance'

interface Measured {
  readonly figures: MaintenanceLoopMetrics
  view(): MaintenanceView
}

export async function metricsOf({ view, figures }: Measured): Promise<{ text: string; type: string }> {
  const registry = new Registry()
  const gauge = (name: string, help: string, value: number) =>
    new Gauge({ name, help, registers: [registry] }).set(value)
  const { events, jobs, problems } = view()
  const byStatus = new Gauge({
    ...{ name: 'gantry_maintenance_events', help: 'Repair events that are not forgotten yet, by their status' },
    ...{ labelNames: ['status'], registers: [registry] },
  })
  for (const status of REPAIR_STATUSES)
    byStatus.set({ status }, events.filter((event) => event['repair-status'] === status).length)
  gauge('gantry_maintenance_round_jobs', 'Jobs of the round that is under way', jobs.length)
  gauge('gantry_maintenance_bad_reports', 'Nodes whose reports cannot be used', Object.keys(problems).length)
  gauge('gantry_maintenance_rounds', 'Rounds that have ended since the start', figures.rounds)
  gauge('gantry_maintenance_looks', 'Looks at all nodes since the start', figures.looks)
  gauge('gantry_maintenance_failures', 'Looks and steps that failed since the start', figures.failures)
  return { text: await registry.metrics(), type: Registry.PROMETHEUS_CONTENT_TYPE }
}
