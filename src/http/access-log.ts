// One log line for each request: the caller, the request, its result and duration, and the job that it made. A line
// contains only the path of the address, and no header or body, so it cannot contain a secret.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AccessLevel } from '../lib/access-level'
import type { Clock } from '../lib/clock'
import type { Log } from '../lib/log'
import type { HttpLimits } from '../model/limits/http'
import type { Middleware } from './application'

/** Facts about a request: its `user`, the id of its `token` (not secret), and the `job` that it made. */
type Noted = Readonly<Record<string, string | number>>

const noted = new WeakMap<IncomingMessage, Noted>()

/** Adds facts that become known while a request is served. */
export function noteAccess(request: IncomingMessage, more: Noted): void {
  noted.set(request, { ...noted.get(request), ...more })
}

export interface AccessLogOptions {
  readonly accessLog: AccessLevel
  readonly log: Log
  readonly clock: Clock
}

export function logRequests(
  { accessLog: level, log, clock }: AccessLogOptions,
  { log_path_chars }: Pick<HttpLimits, 'log_path_chars'>,
): Middleware {
  return (request, response, next) => {
    if (level !== 'none') logOne(request, response)
    next()
  }

  function logOne(request: IncomingMessage, response: ServerResponse): void {
    const begun_ms = clock.monotonic_ms()
    const { method = '', url = '', socket } = request
    const address = socket.remoteAddress
    response.once('close', () => {
      const { statusCode: status } = response
      const whole = response.writableFinished || status === 101
      if (level === 'changes' && isRead(method) && !isRemarkable(status)) return
      const entry = {
        ...noted.get(request),
        ...{ address, method, path: url.replace(/\?.*/s, '').slice(0, log_path_chars), status },
        ms: Math.round((clock.monotonic_ms() - begun_ms) * 10) / 10,
        // The client left before the whole answer; a websocket ends when either side leaves.
        ...(whole ? {} : { cut: true }),
      }
      log.info(entry, 'request')
    })
  }
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD'

const isRemarkable = (status: number): boolean => status === 101 || status === 401 || status === 403 || status >= 500
