// Finishes the document of the monitoring daemon. Its refusals are plain text, except those of wrong values. It also has figures for
// Prometheus.
import { finishDocument, type Operation, PROBLEM, REFUSED as WRONG, type Spec } from './document'

export function finishMond(spec: Spec): Spec {
  spec.components.schemas['Problem'] = PROBLEM
  spec.paths['/metrics'] = { get: METRICS }
  for (const operation of Object.values(spec.paths).flatMap((verbs) => Object.values(verbs)))
    Object.assign(operation.responses, {
      ...(operation.parameters?.some((one) => one['in'] === 'query') === true && { 400: WRONG }),
      ...{ '4XX': REFUSED, '5XX': REFUSED },
    })
  return finishDocument(spec, [])
}

const plain = (description: string) => ({ description, content: { 'text/plain': { schema: { type: 'string' } } } })

const REFUSED = plain('The request was refused; the text says why.')

const METRICS: Operation = {
  operationId: 'Metrics_get',
  tags: ['metrics'],
  description: 'Figures about the collectors, and what they report about the node, for Prometheus.',
  responses: { 200: plain('Figures as text.') },
}
