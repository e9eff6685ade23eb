// One line of the log for each request: who asked for what, what came of it, how long it took, and which job it made. No line has more of
// an address than its path, and none has a header or a body, so that no secret gets there.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../lib/clock'
import type { Log } from '../../lib/log'
import type { AccessLevel } from '../../model/constants/daemons'
import { ACCESS_LOG_PATH_CHARS_MAX } from '../../model/limits/rapi'

interface Noted {
  readonly user?: string
  /** The id of the token, which is no secret. */
  readonly token?: string | null
  readonly job?: number
}

const noted = new WeakMap<IncomingMessage, Noted>()

/** Adds facts about a request that become known while it is served. */
export function noteAccess(request: IncomingMessage, more: Noted): void {
  noted.set(request, { ...noted.get(request), ...more })
}

interface AccessLogOptions {
  readonly level: AccessLevel
  readonly log: Log
  readonly clock: Clock
}

export function logAccess(
  { level, log, clock }: AccessLogOptions,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (level === 'none') return
  const begun_ms = clock.monotonic_ms()
  const { method = '', url = '', socket } = request
  const address = socket.remoteAddress
  response.once('close', () => {
    const { statusCode: status } = response
    const whole = response.writableFinished
    if (level === 'changes' && isRead(method) && !isRemarkable(status)) return
    const entry = {
      ...noted.get(request),
      ...{ address, method, path: url.replace(/\?.*/s, '').slice(0, ACCESS_LOG_PATH_CHARS_MAX), status },
      ms: Math.round((clock.monotonic_ms() - begun_ms) * 10) / 10,
      // The client left before it had the whole answer.
      ...(whole ? {} : { cut: true }),
    }
    log.info(entry, 'request')
  })
}

const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD'

const isRemarkable = (status: number): boolean => status === 401 || status === 403 || status >= 500
