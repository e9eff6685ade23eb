// The only place where errors become answers of /3: application/problem+json (RFC 9457).
import { type Problem, problem, problemOf as problemOfAny } from '../../../http/problem'
import type { Log } from '../../../lib/log'
import { saysFull } from '../../../lib/system-failure'
import {
  ECODE,
  type ErrorCode,
  GanetiError,
  GenericError,
  isQueueDrained,
  JobQueueDrainError,
  JobQueueFull,
  OpPrereqError,
  ParameterError,
  QueryFilterParseError,
  REFUSED,
} from '../../../model/errors'
import { PeerError } from '../../../rpc/json-protocol'
import { DOOR, isBadDependency } from '../errors'

/** How to log in to /3 and /metrics. */
export const CHALLENGE = 'Basic realm="Gantry", Bearer realm="Gantry"'

export function problemOf(error: unknown, log: Log): Problem {
  if (error instanceof PeerError) return problem(error.kind === 'timeout' ? 504 : 502, error.message)
  if (error instanceof OpPrereqError) return { ...problem(STATUS[error.code] ?? 422, error.text), code: error.code }
  if (error instanceof GanetiError) return problem(statusOf(error), withoutCall(error.message))
  return problemOfAny(error, log, DOOR)
}

/** LUXI repeats the whole call that it could not parse. The caller need not see that. */
const withoutCall = (text: string): string =>
  text.replace(/^Failed to parse request: (?:Cannot convert value '.*', error: |Gantry\w+: )/s, '')

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
  if (isQueueDrained(error)) return 503
  if (error instanceof GenericError && error.message.startsWith('Failed to parse request')) return 400
  if (saysFull(error.message)) return 507
  if (error instanceof ParameterError || error instanceof QueryFilterParseError) return 400
  return 502
}
