// The life of a request to /2, read top to bottom: authenticate, find the route, check access, read the body, collect the
// arguments, call the controller, reply. The routes are data, generated from the controllers.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../lib/clock'
import { finishAnswer } from '../../lib/finish-answer'
import { slices, writeSlice } from '../../lib/slices'
import { ENTRIES_AT_ONCE } from '../../model/limits/queries'
import { RAPI_BYTES_AT_ONCE, RAPI_SHORT_BYTES_MAX, RAPI_STALLED_S } from '../../model/limits/rapi'
import { DROPPED_BODY } from '../../model/limits/wires'
import { JsonText } from '../../rpc/long-answers'
import { readArguments, type RouteArgument } from './arguments'
import { type Authenticator, CHALLENGE, checkAccess } from './auth'
import { GANETI_TYPE, readBody } from './body'
import { noteAccess } from './access-log'
import { RapiContext, type RapiServices } from './context'
import { errorReply, HttpError, notFound, retryAfter } from './errors'
import { pythonJson } from './python'
import { PythonWriter } from './python-writer'
import { readPermission } from './read-permission'
import { checkHeaders } from './request-headers'
import { RouteTree } from './route-tree'
import { TextAnswer } from './tables'
import type { User } from './users'

export interface Route {
  readonly verb: string
  /** `/2/nodes/:name/role` */
  readonly path: string
  readonly controller: new (context: RapiContext) => object
  readonly action: string
  /** Options of users, any of which is enough; none for everybody. */
  readonly security: readonly { readonly basic?: readonly string[]; readonly bearer?: readonly string[] }[]
  readonly args: readonly RouteArgument[]
}

export interface RouterOptions extends RapiServices {
  readonly authenticator: Authenticator
  /** Without it, anyone may read what no option is needed for. */
  readonly requireAuthentication: boolean
}

export type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>

export function createRouter(routes: readonly Route[], options: RouterOptions): Handler {
  const tree = new RouteTree(routes)
  const { log, clock } = options

  return async (request, response) => {
    let user: User | undefined
    try {
      checkHeaders(request)
      // A caller with a password, right or wrong, hears of a wrong address or method before the password is checked.
      const asked = request.headers.authorization === undefined ? undefined : findRoute(tree, request)
      user = await options.authenticator.authenticate(request, response)
      if (user !== undefined) noteAccess(request, { user: user.name })
      if (user === undefined && options.requireAuthentication) throw new HttpError(401)
      const result = await serve(asked ?? findRoute(tree, request), options, request, response, user)
      // Every number that is an answer is the one of a job.
      if (typeof result === 'number' && request.method !== 'GET') noteAccess(request, { job: result })
      await reply(response, result, clock)
    } catch (error) {
      const { status, body } = errorReply(error, log)
      if (status === 401) response.setHeader('WWW-Authenticate', CHALLENGE)
      response.setHeaders(new Map(Object.entries(retryAfter(status, error))))
      // The rest of a body that is too long is read only up to a limit, so the connection cannot be used again.
      if (status === 413) response.setHeader('Connection', 'close')
      send(response, status, body, clock)
    }
  }
}

interface Asked {
  readonly route: Route
  readonly resource: string
  readonly params: Readonly<Record<string, string>>
}

function findRoute(tree: RouteTree<Route>, request: IncomingMessage): Asked {
  const found = tree.find(pathOf(request))
  if (found === undefined) throw notFound()
  const route = found.byVerb.get((request.method ?? '').toLowerCase())
  if (route === undefined) throw new HttpError(501, `Method ${request.method} is unsupported for path ${request.url}`)
  return { route, resource: found.resource, params: found.params }
}

async function serve(
  { route, resource, params }: Asked,
  services: RapiServices,
  request: IncomingMessage,
  response: ServerResponse,
  user: User | undefined,
): Promise<unknown> {
  for (const { basic = [] } of route.security) checkAccess(user, basic)
  const body = await readBody(request, GANETI_TYPE, user?.name)
  const query = new URLSearchParams((request.url ?? '').slice(pathOf(request).length))
  const context = new RapiContext(services, response, resource, query, body, undefined, user)
  const permission = readPermission(route)
  if (permission !== undefined) context.need(permission)
  const args = readArguments(route.args, params, query, body)
  const controller = new route.controller(context)
  const action: unknown = Reflect.get(controller, route.action)
  if (typeof action !== 'function') throw new Error(`${route.controller.name} has no ${route.action}`)
  return await Reflect.apply(action, controller, args)
}

function pathOf(request: IncomingMessage): string {
  const url = request.url ?? ''
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

async function reply(response: ServerResponse, result: unknown, clock: Clock): Promise<void> {
  if (result instanceof TextAnswer) return replyInPieces(response, result, clock)
  if (!Array.isArray(result) || result.length <= ENTRIES_AT_ONCE) return send(response, 200, pythonJson(result), clock)
  return replyInPieces(response, new TextAnswer(new JsonText(listPieces(result))), clock)
}

function* listPieces(list: readonly unknown[]): Generator<string> {
  let before = '['
  for (const slice of slices(list, ENTRIES_AT_ONCE)) {
    yield before + JSON.stringify(slice).slice(1, -1)
    before = ','
  }
  yield ']'
}

/** Each piece is sent when its reader has room. An answer of one buffer or less tells its length. */
async function replyInPieces(response: ServerResponse, { text, columns }: TextAnswer, clock: Clock): Promise<void> {
  const writer = new PythonWriter(columns)
  let waiting: Buffer[] = []
  let size = 0
  for await (const part of partsOf(text)) {
    if (response.destroyed) return
    const bytes = writer.write(part)
    size += bytes.length
    waiting.push(bytes)
    if (size < RAPI_SHORT_BYTES_MAX) continue
    if (!response.headersSent) beginLong(response)
    // Parts that waited are sent together, since each slice waits for its turn behind those of other lists.
    const ready = waiting.length > 1 ? Buffer.concat(waiting) : bytes
    waiting = []
    await writeSlice(response, ready)
  }
  const rest = Buffer.concat(waiting)
  if (response.headersSent) response.end(Buffer.concat([rest, LINE]))
  else send(response, 200, rest, clock)
}

/** No longer than what is worked on at once, even by code that has not run before. */
async function* partsOf({ pieces }: JsonText): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    for (let at = 0; at < bytes.length; at += RAPI_BYTES_AT_ONCE) yield bytes.subarray(at, at + RAPI_BYTES_AT_ONCE)
  }
}

/** A reader that takes nothing for so long has gone. */
function beginLong(response: ServerResponse): void {
  response.setTimeout(RAPI_STALLED_S * 1000, () => response.destroy())
  response.writeHead(200, { 'Content-Type': 'application/json' })
}

const LINE = Buffer.from('\n')

function send(response: ServerResponse, status: number, json: Buffer, clock: Clock): void {
  if (response.destroyed) return
  // Who has got the beginning of an answer learns by its end that it has failed.
  if (response.headersSent) return void response.destroy()
  const data = Buffer.concat([json, LINE])
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': data.length })
  void finishAnswer(response, data, clock, DROPPED_BODY)
}
