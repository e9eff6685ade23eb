// Refusals as application/problem+json (RFC 9457).
import { STATUS_CODES } from 'node:http'
import type { Log } from '../lib/log'
import { saysFull } from '../lib/system-failure'
import { HttpError, unforeseen } from './errors'

/** Why a request failed. */
export interface Problem {
  /** `about:blank`: the status alone describes the kind of problem. */
  type: string
  /** The status in words. */
  title: string
  /** The HTTP status. */
  status: number
  /** What happened, to which object, and what to do about it. */
  detail: string
  /** The kind of refusal, if the cluster gave one: `unknown_entity`. */
  code?: string
  /** The wrong parameter of the body, if there is one: `disks`. */
  parameter?: string
}

export const PROBLEM_TYPE = 'application/problem+json'

export const problem = (status: number, detail: string): Problem => ({
  type: 'about:blank',
  title: STATUS_CODES[status] ?? 'Error',
  status,
  detail,
})

/** The problem for any error of the door itself. `door` names the log with the details of unforeseen errors. */
export function problemOf(error: unknown, log: Log, door: string): Problem {
  if (error instanceof HttpError) {
    const { status, message, parameter } = error
    return parameter === undefined ? problem(status, message) : { ...problem(status, message), parameter }
  }
  const { status, message } = unforeseen(error, log, door)
  return problem(saysFull(message) ? 507 : status, message)
}
