// The only place where errors become HTTP statuses. Domain code throws GanetiErrors; the door's own refusals are HttpErrors.
import { STATUS_CODES } from 'node:http'
import type { Log } from '../../lib/log'
import { SenderLeft } from '../../lib/read-body'
import { systemFailure } from '../../lib/system-failure'
import { RETRY_AFTER_S } from '../../model/limits/rapi'
import { GanetiError, GenericError, JobQueueDrainError, JobQueueFull, LuxiError } from '../../model/errors'
import { PeerError } from '../../rpc/json-protocol'
import { pythonErrorText, pythonJson } from './python'

export class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string = STATUS_CODES[status] ?? 'Error',
    /** When to try again; the status may have its own default. */
    readonly retry_s?: number,
  ) {
    super(message)
  }
}

/** No refusal: the answer takes longer than a request may, and will be the result of this job. */
export class AnsweredByJob extends Error {
  constructor(readonly job: number) {
    super(`job ${job} will have the answer`)
  }
}

export const badRequest = (message: string): HttpError => new HttpError(400, message)
/** A bound of one client or user, and after how many seconds there may be room again. */
export const tooMany = (message: string, retry_s: number): HttpError => {
  const whole_s = Math.max(Math.ceil(retry_s), 1)
  return new HttpError(429, `${message}; try again in ${whole_s} s`, whole_s)
}
/** The header of an answer that says when to try again. */
export function retryAfter(status: number, error: unknown): Record<string, string> {
  const asked_s = error instanceof HttpError ? error.retry_s : undefined
  const retry_s = asked_s ?? (status === 503 ? RETRY_AFTER_S : undefined)
  return retry_s === undefined ? {} : { 'Retry-After': String(retry_s) }
}
export const notFound = (): HttpError => new HttpError(404)

export interface ErrorReply {
  status: number
  body: Buffer
}

/** The reply for any error. An unforeseen error is logged, and shown without its stack. */
export function errorReply(error: unknown, log: Log): ErrorReply {
  if (error instanceof HttpError) return replyOf(error.status, error.message)
  if (error instanceof PeerError) return replyOf(error.kind === 'timeout' ? 504 : 502, error.message)
  if (error instanceof GanetiError) return replyOf(statusOf(error), pythonErrorText(error.args) || error.message)
  const { status, message } = unforeseen(error, log)
  return replyOf(status, message)
}

/** Logged and answered when a client left, or ended its side, before its request was complete. */
export const NOT_WHOLE = 'The request was not sent whole'

/** A client that leaves is no defect; then nobody reads the answer. */
export function unforeseen(error: unknown, log: Log): HttpError {
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
  return new HttpError(500, 'Internal error; the log of the RAPI daemon has the details')
}

/** A dependency on a job before the first one: luxid finds it when it gives the job its number. */
export const isBadDependency = (error: GanetiError): boolean =>
  error instanceof GenericError && error.message.startsWith('relative job id')

function statusOf(error: GanetiError): number {
  if (isBadDependency(error)) return 400
  if (error instanceof JobQueueFull || error instanceof JobQueueDrainError) return 503
  if (error instanceof LuxiError) return 502
  // luxid answers a message that it cannot read with a bare text instead of an error.
  if (error instanceof GenericError && error.message.startsWith('Failed to parse request')) return 502
  return 500
}

function replyOf(status: number, message: string): ErrorReply {
  return { status, body: pythonJson({ code: status, message: escapeHtml(message), explain: EXPLAIN[status] ?? '' }) }
}

/** The general meaning of each status, as clients of Ganeti are used to read it. */
export const EXPLAIN: Readonly<Record<number, string>> = {
  400: 'Bad request syntax or unsupported method',
  401: 'No permission -- see authorization schemes',
  403: 'Request forbidden -- authorization will not help',
  404: 'Nothing matches the given URI',
  408: 'Request timed out; try again later.',
  413: 'Entity is too large.',
  415: 'Entity body in unsupported format',
  429: 'Too many requests of one client or user; try again later.',
  431: 'The server is unwilling to process the request because its headers are too large',
  500: 'Server got itself in trouble',
  501: 'Server does not support this operation',
  502: 'Invalid responses from another server/proxy',
  503: 'The server cannot process the request due to a high load',
  504: 'The gateway server did not receive a timely response',
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' }

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char)
