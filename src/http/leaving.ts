import type { ServerResponse } from 'node:http'

/** Fires when the client has gone away. */
export function leaving(response: ServerResponse): AbortSignal {
  const abort = new AbortController()
  response.once('close', () => abort.abort())
  if (response.destroyed) abort.abort()
  return abort.signal
}
