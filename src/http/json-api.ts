// An API with plain JSON: answers as they are, refusals as problems, and no unknown parameters.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../lib/clock'
import { finishAnswer } from '../lib/net/finish-answer'
import type { HttpLimits } from '../model/limits/http'
import { JSON_TYPE } from './body'
import { type Api, type Asked, pathOf, WEBSOCKET } from './dispatch'
import { HttpError, retryAfter } from './errors'
import { clientDisconnectSignal } from './client-disconnect-signal'
import { type Problem, PROBLEM_TYPE } from './problem'

/** Headers and status that a controller sets beside its result. */
export interface Reply {
  status: number
  readonly headers: Record<string, string>
  /** Writes the answer bit by bit instead of a body; ends when the client leaves. */
  stream?: (response: ServerResponse, signal: AbortSignal) => Promise<void>
}

export interface JsonDoor {
  readonly clock: Clock
  readonly limits: Pick<HttpLimits, 'retry_after_s' | 'dropped_body'>
  /** How to log in. */
  readonly challenge: string
  problemOf(error: unknown): Problem
}

interface Own<Caller, Context> extends Pick<Api<Caller, Context>, 'routes' | 'identify' | 'nameOf' | 'context'> {
  /** The headers and status that the controller has given its answer. */
  replyOf(context: Context): Reply
}

export function jsonApi<Caller, Context>(door: JsonDoor, own: Own<Caller, Context>): Api<Caller, Context> {
  return {
    ...own,
    anyName: true,
    bodyType: JSON_TYPE,
    strict: true,
    wrongMethod(request, response, verbs) {
      const methods = [...verbs].filter((verb) => verb !== WEBSOCKET)
      if (methods.length === 0) {
        response.setHeader('Upgrade', 'websocket')
        return new HttpError(426, `${pathOf(request)} is a websocket`)
      }
      response.setHeader('Allow', methods.map((verb) => verb.toUpperCase()).join(', '))
      return new HttpError(405, `${request.method} is not supported for ${pathOf(request)}`)
    },
    answer({ request, response }: Asked<Caller, Context>, result, context) {
      const reply = own.replyOf(context)
      if (reply.stream !== undefined) return reply.stream(response, clientDisconnectSignal(response))
      sendJson(request, response, reply, result, door)
    },
    refuse: (_request, response, error) => sendProblem(response, error, door),
  }
}

export function sendJson(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers }: Reply,
  result: unknown,
  door: JsonDoor,
): void {
  const tag = headers['ETag']
  if (tag !== undefined && request.headers['if-none-match'] === tag) return void response.writeHead(304, headers).end()
  if (status === 204) return void response.writeHead(status, headers).end()
  write(response, status, { 'Content-Type': 'application/json', ...headers }, JSON.stringify(result ?? null), door)
}

export function sendProblem(response: ServerResponse, error: unknown, door: JsonDoor): void {
  const problem = door.problemOf(error)
  if (response.headersSent) return void response.end()
  const headers: Record<string, string> = {
    'Content-Type': PROBLEM_TYPE,
    ...(problem.status === 401 && { 'WWW-Authenticate': door.challenge }),
    ...retryAfter(problem.status, error, door.limits.retry_after_s),
    // An oversized body is only read up to a limit, so the connection cannot be used again.
    ...(problem.status === 413 && { Connection: 'close' }),
  }
  write(response, problem.status, headers, JSON.stringify(problem), door)
}

function write(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  text: string,
  { clock, limits }: JsonDoor,
): void {
  if (response.destroyed) return
  const data = Buffer.from(text)
  response.writeHead(status, { ...headers, 'Content-Length': data.length, 'Cache-Control': 'no-store' })
  void finishAnswer(response, data, clock, limits.dropped_body)
}
