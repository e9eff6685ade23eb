// Refusals of a door, and unforeseen errors. The API words them.
import { STATUS_CODES } from 'node:http'
import type { Log } from '../lib/log'
import { SenderLeft } from '../lib/net/read-body'
import { systemFailure } from '../lib/system-failure'

export class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string = STATUS_CODES[status] ?? 'Error',
    /** Seconds until the caller may try again; the status may have its own default. */
    readonly retry_s?: number,
    /** The wrong parameter of the body. */
    readonly parameter?: string,
  ) {
    super(message)
  }
}

export const badRequest = (message: string): HttpError => new HttpError(400, message)
export const badParameter = (parameter: string, message: string): HttpError =>
  new HttpError(400, message, undefined, parameter)
/** The caller has reached its own limit; it may try again after these seconds. */
export const tooMany = (message: string, retry_s: number): HttpError => {
  const whole_s = Math.max(Math.ceil(retry_s), 1)
  return new HttpError(429, `${message}; try again in ${whole_s} s`, whole_s)
}
export const notFound = (): HttpError => new HttpError(404)

/** The header that says when to try again; `busy_s` is the default for an overloaded door. */
export function retryAfter(status: number, error: unknown, busy_s: number): Record<string, string> {
  const asked_s = error instanceof HttpError ? error.retry_s : undefined
  const retry_s = asked_s ?? (status === 503 ? busy_s : undefined)
  return retry_s === undefined ? {} : { 'Retry-After': String(retry_s) }
}

/** Logged and answered when a client left, or ended its side, before its request was complete. */
export const NOT_WHOLE = 'The request was not sent whole'

/**
 * Logs the error, and returns it without its stack. A client that leaves is no defect, and nobody reads the answer.
 * `door` names the log that has the details.
 */
export function unforeseen(error: unknown, log: Log, door: string): HttpError {
  if (error instanceof SenderLeft) {
    log.info({ cause: error.message }, 'a client left while it sent its request')
    return badRequest(NOT_WHOLE)
  }
  const refused = systemFailure(error)
  if (refused !== undefined) {
    log.error({ err: error }, 'the system refused what a request needs')
    return new HttpError(500, refused)
  }
  log.error({ err: error }, 'a request failed because of a defect')
  return new HttpError(500, `Internal error; the log of the ${door} has the details`)
}
