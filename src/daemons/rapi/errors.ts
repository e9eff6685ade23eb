// The only place where errors become answers of /2. Domain code throws GanetiErrors. The code of the remote API throws HttpErrors.
import { HttpError, unforeseen } from '../../http/errors'
import type { RefusalWords } from '../../http/refusal'
import type { Log } from '../../lib/log'
import { GanetiError, GenericError, JobQueueDrainError, JobQueueFull, LuxiError } from '../../model/errors'
import { PeerError } from '../../rpc/json-protocol'
import { pythonErrorText, pythonJson } from './python'

/** Not a refusal: the answer takes too long for a request, so it will be the result of this job. */
export class AnsweredByJob extends Error {
  constructor(readonly job: number) {
    super(`job ${job} will have the answer`)
  }
}

/** The name of the remote API in error messages. */
export const DOOR = 'RAPI daemon'

export interface ErrorReply {
  status: number
  body: Buffer
}

/** The reply for any error. An unforeseen error is logged, and shown without its stack. */
export function errorReply(error: unknown, log: Log): ErrorReply {
  if (error instanceof HttpError) return replyOf(error.status, error.message)
  if (error instanceof PeerError) return replyOf(error.kind === 'timeout' ? 504 : 502, error.message)
  if (error instanceof GanetiError) return replyOf(statusOf(error), pythonErrorText(error.args) || error.message)
  const { status, message } = unforeseen(error, log, DOOR)
  return replyOf(status, message)
}

/** A dependency on a job before the first one: luxid notices it when it numbers the job. */
export const isBadDependency = (error: GanetiError): boolean =>
  error instanceof GenericError && error.message.startsWith('relative job id')

function statusOf(error: GanetiError): number {
  if (isBadDependency(error)) return 400
  if (error instanceof JobQueueFull || error instanceof JobQueueDrainError) return 503
  if (error instanceof LuxiError) return 502
  // luxid answers an unparsable message with a plain text instead of an error.
  if (error instanceof GenericError && error.message.startsWith('Failed to parse request')) return 502
  return 500
}

export const REFUSAL_WORDS: RefusalWords = {
  type: 'application/json',
  body: ({ status, message }) => Buffer.concat([replyOf(status, message).body, LINE]),
}

/** The end of every answer of /2. */
export const LINE = Buffer.from('\n')

function replyOf(status: number, message: string): ErrorReply {
  return { status, body: pythonJson({ code: status, message: escapeHtml(message), explain: EXPLAIN[status] ?? '' }) }
}

/** The general meaning of each status, as clients of Ganeti know it. */
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
  505: 'Cannot fulfill request.',
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#x27;' }

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (char) => ENTITIES[char] ?? char)
