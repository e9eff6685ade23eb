// Tells when the client of a request has gone.
import type { ServerResponse } from 'node:http'

export function clientDisconnectSignal(response: ServerResponse): AbortSignal {
  const abort = new AbortController()
  response.once('close', () => abort.abort())
  if (response.destroyed) abort.abort()
  return abort.signal
}
