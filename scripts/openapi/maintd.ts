// Finishes the document of the maintenance daemon: reading needs no login, and there are figures for Prometheus.
import { finishPlain, type Operation, type Spec } from './document'

export function finishMaintd(spec: Spec): Spec {
  spec.paths['/metrics'] = { get: METRICS }
  for (const operation of Object.values(spec.paths).flatMap((verbs) => Object.values(verbs))) operation.security ??= []
  const changes = spec.components.schemas['MaintenanceChanges']
  if (changes === undefined) throw new Error('the maintenance daemon has no settings')
  changes['example'] = MAINTENANCE_EXAMPLE
  return finishPlain(spec)
}

export const MAINTENANCE_EXAMPLE = { diagnose_command: 'check-node', evacuation: true }

const METRICS: Operation = {
  operationId: 'Metrics_get',
  tags: ['metrics'],
  description: 'Repair events by their status, and figures about the daemon, for Prometheus.',
  responses: {
    200: { description: 'Figures as text.', content: { 'text/plain': { schema: { type: 'string' } } } },
  },
}
