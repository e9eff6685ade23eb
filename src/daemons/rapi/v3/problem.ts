// The only place where errors become answers of /3: application/problem+json (RFC 9457).
import { STATUS_CODES } from 'node:http'
import type { Log } from '../../../lib/log'
import { saysFull } from '../../../lib/system-failure'
import {
  ECODE,
  type ErrorCode,
  GanetiError,
  GenericError,
  JobQueueDrainError,
  JobQueueFull,
  OpPrereqError,
  ParameterError,
  QueryFilterParseError,
  REFUSED,
} from '../../../model/errors'
import { PeerError } from '../../../rpc/json-protocol'
import { HttpError, isBadDependency, unforeseen } from '../errors'

/** Why a request failed. */
export interface Problem {
  /** `about:blank`: the status says all that there is to the kind of the problem. */
  type: string
  /** The status in words. */
  title: string
  /** The HTTP status. */
  status: number
  /** What happened, to which object, and what can be done. */
  detail: string
  /** What kind of refusal it is, where the cluster told: `unknown_entity`. */
  code?: string
}

export function problemOf(error: unknown, log: Log): Problem {
  if (error instanceof HttpError) return problem(error.status, error.message)
  if (error instanceof PeerError) return problem(error.kind === 'timeout' ? 504 : 502, error.message)
  if (error instanceof OpPrereqError) return { ...problem(STATUS[error.code] ?? 422, error.text), code: error.code }
  if (error instanceof GanetiError) return problem(statusOf(error), withoutCall(error.message))
  const { status, message } = unforeseen(error, log)
  return problem(saysFull(message) ? 507 : status, message)
}

/** LUXI repeats the whole call that it could not read; it is not the caller's. */
const withoutCall = (text: string): string =>
  text.replace(/^Failed to parse request: Cannot convert value '.*', error: /s, '')

const problem = (status: number, detail: string): Problem => ({
  type: 'about:blank',
  title: STATUS_CODES[status] ?? 'Error',
  status,
  detail,
})

const STATUS: Partial<Record<ErrorCode, number>> = {
  [ECODE.INVAL]: 400,
  [ECODE.NOENT]: 404,
  [ECODE.EXISTS]: 409,
  [ECODE.NOTUNIQUE]: 409,
  [ECODE.STATE]: 409,
  [ECODE.TEMP_NORES]: 503,
  [REFUSED.forbidden]: 403,
  [REFUSED.inFlight]: 409,
  [REFUSED.otherBody]: 422,
  [REFUSED.changed]: 412,
}

function statusOf(error: GanetiError): number {
  if (isBadDependency(error)) return 400
  if (error instanceof JobQueueFull || error instanceof JobQueueDrainError) return 503
  if (error instanceof GenericError && error.message === 'Queue drained') return 503
  if (error instanceof GenericError && error.message.startsWith('Failed to parse request')) return 400
  if (saysFull(error.message)) return 507
  if (error instanceof ParameterError || error instanceof QueryFilterParseError) return 400
  return 502
}
