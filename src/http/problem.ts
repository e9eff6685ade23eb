// Refusals as application/problem+json (RFC 9457).
import { STATUS_CODES } from 'node:http'
import type { Log } from '../lib/log'
import { saysFull } from '../lib/system-failure'
import { HttpError, unforeseen } from './errors'

/** Why a request failed. */
export interface Problem {
  /** `about:blank`: the status says all that there is to the kind of the problem. */
  type: string
  /** The status in words. */
  title: string
  /** The HTTP status. */
  status: number
  /** Tells what happened, to which object, and what can be done. */
  detail: string
  /** The kind of refusal, where the cluster told: `unknown_entity`. */
  code?: string
  /** The parameter of the body that is wrong, where one is: `disks`. */
  parameter?: string
}

export const PROBLEM_TYPE = 'application/problem+json'

export const problem = (status: number, detail: string): Problem => ({
  type: 'about:blank',
  title: STATUS_CODES[status] ?? 'Error',
  status,
  detail,
})

/** The problem of any error that the door itself can tell; `door`: whose log has the details of what nobody foresaw. */
export function problemOf(error: unknown, log: Log, door: string): Problem {
  if (error instanceof HttpError) {
    const { status, message, parameter } = error
    return parameter === undefined ? problem(status, message) : { ...problem(status, message), parameter }
  }
  const { status, message } = unforeseen(error, log, door)
  return problem(saysFull(message) ? 507 : status, message)
}
