// What a controller gets of one request.
import type { IncomingMessage } from 'node:http'
import type { Clock } from '../../lib/clock'
import type { Log } from '../../lib/log'
import type { Master } from '../../rpc/luxi/calls'

/** What all requests share. */
export interface RapiServices {
  readonly master: Master
  readonly clock: Clock
  readonly log: Log
}

export class RapiContext {
  private abort: AbortController | undefined

  constructor(
    readonly services: RapiServices,
    private readonly request: IncomingMessage,
    /** The resource's name in reason trails: `instances_name_startup`. */
    readonly resource: string,
    readonly query: URLSearchParams,
    /** Parsed JSON; undefined when there was no body. */
    readonly body: unknown,
  ) {}

  /** Fires when the client has gone away, so that nothing waits on its behalf. */
  get signal(): AbortSignal {
    if (this.abort === undefined) {
      const abort = new AbortController()
      this.request.socket.once('close', () => abort.abort())
      if (this.request.socket.destroyed) abort.abort()
      this.abort = abort
    }
    return this.abort.signal
  }
}
