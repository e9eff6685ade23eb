// Finishes the document of the metadata daemon: refusals are plain text.
import { finishDocument, type Spec } from './document'

export function finishMetad(spec: Spec): Spec {
  for (const operation of Object.values(spec.paths).flatMap((verbs) => Object.values(verbs)))
    Object.assign(operation.responses, { '4XX': REFUSED, '5XX': REFUSED })
  return finishDocument(spec, [])
}

const REFUSED = {
  description: 'The request was refused. Callers that are not instances of this node also get 404.',
  content: { 'text/plain': { schema: { type: 'string' } } },
}
