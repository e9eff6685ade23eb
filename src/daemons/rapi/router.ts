// The life of a request to /2, read top to bottom: authenticate, find the route, check access, read the body, collect the
// arguments, call the controller, reply. The routes are data, generated from the controllers.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../lib/clock'
import { finishAnswer } from '../../lib/finish-answer'
import { slices, writeSlice } from '../../lib/slices'
import { DROPPED_BODY, ENTRIES_AT_ONCE } from '../../model/limits'
import { readArguments, type RouteArgument } from './arguments'
import { type Authenticator, CHALLENGE, checkAccess } from './auth'
import { readBody } from './body'
import { RapiContext, type RapiServices } from './context'
import { badRequest, errorReply, HttpError, notFound } from './errors'
import { pythonJson } from './python'
import { readPermission } from './read-permission'
import { RouteTree } from './route-tree'
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
      if (request.headers.host === undefined && request.httpVersion === '1.1') throw badRequest('Missing Host header')
      // Whoever gives a password, right or wrong, is told first of an address or a method that is not there.
      const asked = request.headers.authorization === undefined ? undefined : findRoute(tree, request)
      user = await options.authenticator.authenticate(request, response)
      if (user === undefined && options.requireAuthentication) throw new HttpError(401)
      await reply(response, await serve(asked ?? findRoute(tree, request), options, request, user), clock)
    } catch (error) {
      const { status, body } = errorReply(error, log)
      if (status === 401) response.setHeader('WWW-Authenticate', CHALLENGE)
      // What is left of a body that is too long is dropped, and only so much of it.
      if (status === 413) response.setHeader('Connection', 'close')
      send(response, status, body, clock)
    }
    if (request.method !== 'GET')
      log.info(
        { user: user?.name, method: request.method, path: pathOf(request), status: response.statusCode },
        'request',
      )
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
  user: User | undefined,
): Promise<unknown> {
  for (const { basic = [] } of route.security) checkAccess(user, basic)
  const body = await readBody(request)
  const query = new URLSearchParams((request.url ?? '').slice(pathOf(request).length))
  const context = new RapiContext(services, request, resource, query, body, undefined, user)
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

/** A long list is written slice by slice, as its reader has room. */
async function reply(response: ServerResponse, result: unknown, clock: Clock): Promise<void> {
  if (!Array.isArray(result) || result.length <= ENTRIES_AT_ONCE) return send(response, 200, pythonJson(result), clock)
  response.writeHead(200, { 'Content-Type': 'application/json' })
  let before = '['
  for (const slice of slices(result, ENTRIES_AT_ONCE)) {
    if (response.destroyed) return
    await writeSlice(response, before + pythonJson(slice).slice(1, -1), 'latin1')
    before = ', '
  }
  response.end(']\n', 'latin1')
}

function send(response: ServerResponse, status: number, json: string, clock: Clock): void {
  if (response.headersSent || response.destroyed) return
  // The text is ASCII, so its length is its size.
  const data = Buffer.from(json + '\n', 'latin1')
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': data.length })
  void finishAnswer(response, data, clock, DROPPED_BODY)
}
