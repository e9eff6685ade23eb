// The life of a request to /3, read top to bottom: find the route, find out who asks, read the body, collect the arguments, call the
// controller, reply. What the caller may do is decided by the master, which gets the identity with each call.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../../lib/clock'
import { isObject } from '../../../opcodes/check'
import { finishAnswer } from '../../../lib/finish-answer'
import { DROPPED_BODY } from '../../../model/limits/wires'
import type { GantryMaster } from '../../../rpc/luxi/gantry'
import { noteAccess } from '../access-log'
import { readArguments } from '../arguments'
import { JSON_TYPE, readBody } from '../body'
import { leaving, RapiContext, type RapiServices, type Reply } from '../context'
import { AnsweredByJob, badRequest, HttpError, notFound, retryAfter } from '../errors'
import { checkHeaders } from '../request-headers'
import { RouteTree } from '../route-tree'
import type { Handler, Route } from '../router'
import type { Identify } from './identity'
import { problemOf } from './problem'

export interface V3Options extends RapiServices {
  readonly gantry: GantryMaster
  readonly identify: Identify
}

export function createV3Router(routes: readonly Route[], options: V3Options): Handler {
  const tree = new RouteTree(routes, true)
  return async (request, response) => {
    const reply: Reply = { status: 200, headers: {} }
    try {
      checkHeaders(request)
      const result = await serve(tree, options, request, response, reply)
      if (reply.stream !== undefined) await reply.stream(response, leaving(response))
      else send(request, response, reply, result, options.clock)
    } catch (error) {
      if (error instanceof AnsweredByJob) noteAccess(request, { job: error.job })
      if (error instanceof AnsweredByJob) send(request, response, accepted(error), { id: error.job }, options.clock)
      else refuse(response, error, options)
    }
  }
}

async function serve(
  tree: RouteTree<Route>,
  options: V3Options,
  request: IncomingMessage,
  response: ServerResponse,
  reply: Reply,
): Promise<unknown> {
  const again = () => options.identify(request, response)
  const identity = await again()
  noteAccess(request, { user: identity.user, ...(identity.token !== null && { token: identity.token }) })
  const [pathname = '', query = ''] = (request.url ?? '').split(/\?(.*)/s)
  const found = tree.find(pathname)
  if (found === undefined) throw notFound()
  const route = found.byVerb.get((request.method ?? '').toLowerCase())
  if (route === undefined) {
    response.setHeader('Allow', [...found.byVerb.keys()].map((verb) => verb.toUpperCase()).join(', '))
    throw new HttpError(405, `${request.method} is not supported for ${pathname}`)
  }
  const searchParams = new URLSearchParams(query)
  refuseUnknown(route, searchParams)
  const body = await readBody(request, JSON_TYPE, identity.user)
  refuseUnusedBody(route, body)
  const v3 = { identity, again, gantry: options.gantry, reply }
  const context = new RapiContext(options, response, found.resource, searchParams, body, v3)
  const args = readArguments(route.args, found.params, searchParams, body, request.headers)
  const controller = new route.controller(context)
  const action: unknown = Reflect.get(controller, route.action)
  if (typeof action !== 'function') throw new Error(`${route.controller.name} has no ${route.action}`)
  const result: unknown = await Reflect.apply(action, controller, args)
  const [, job] = /^\/3\/jobs\/(\d+)$/.exec(reply.headers['Location'] ?? '') ?? []
  if (job !== undefined) noteAccess(request, { job: Number(job) })
  return result
}

const accepted = ({ job }: AnsweredByJob): Reply => ({ status: 202, headers: { Location: `/3/jobs/${job}` } })

/** Refuses unknown query parameters: the caller meant them to do something. */
function refuseUnknown({ args }: Route, query: URLSearchParams): void {
  const known = args.flatMap(({ in: where, name }) => (where === 'query' ? [name] : []))
  const there = known.length === 0 ? 'this request takes none' : `there are ${known.join(', ')}`
  for (const name of query.keys()) {
    if (!known.includes(name)) throw badRequest(`There is no query argument '${name}': ${there}`)
    if (query.getAll(name).length > 1) throw badRequest(`${name}: may be given only once`)
  }
}

/** Clients that always send a body send an empty one. */
function refuseUnusedBody({ args, verb, path }: Route, body: unknown): void {
  if (body === undefined || body === null || args.some((arg) => arg.in === 'body')) return
  if (isObject(body) && Object.keys(body).length === 0) return
  throw badRequest(`${verb.toUpperCase()} ${path} takes no body: leave it out`)
}

function send(
  request: IncomingMessage,
  response: ServerResponse,
  { status, headers }: Reply,
  result: unknown,
  clock: Clock,
): void {
  const tag = headers['ETag']
  if (tag !== undefined && request.headers['if-none-match'] === tag) return void response.writeHead(304, headers).end()
  if (status === 204) return void response.writeHead(status, headers).end()
  write(response, status, { 'Content-Type': 'application/json', ...headers }, JSON.stringify(result ?? null), clock)
}

function refuse(response: ServerResponse, error: unknown, { log, clock }: V3Options): void {
  const problem = problemOf(error, log)
  if (response.headersSent) return void response.end()
  const challenge: Record<string, string> =
    problem.status === 401 ? { 'WWW-Authenticate': 'Basic realm="Gantry", Bearer realm="Gantry"' } : {}
  // The rest of a body that is too long is read only up to a limit, so the connection cannot be used again.
  const close: Record<string, string> = problem.status === 413 ? { Connection: 'close' } : {}
  const headers: Record<string, string> = {
    'Content-Type': 'application/problem+json',
    ...challenge,
    ...retryAfter(problem.status, error),
    ...close,
  }
  write(response, problem.status, headers, JSON.stringify(problem), clock)
}

function write(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  text: string,
  clock: Clock,
): void {
  if (response.destroyed) return
  const data = Buffer.from(text)
  response.writeHead(status, { ...headers, 'Content-Length': data.length, 'Cache-Control': 'no-store' })
  void finishAnswer(response, data, clock, DROPPED_BODY)
}
