// Finishes the document of the metadata daemon: refusals are plain text.
import { finishDocument, type Spec } from './openapi-document'

export function finishMetad(spec: Spec): Spec {
  for (const operation of Object.values(spec.paths).flatMap((verbs) => Object.values(verbs)))
    Object.assign(operation.responses, { '4XX': REFUSED, '5XX': REFUSED })
  return finishDocument(spec, [])
}

const REFUSED = {
  description: 'The request was refused: 404 also for whoever is no instance of this node.',
  content: { 'text/plain': { schema: { type: 'string' } } },
}
