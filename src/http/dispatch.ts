// The life of a request, from top to bottom: identify the caller, find the route, read the body, collect the arguments,
// call the controller, answer. The routes are data, generated from the controllers. The API supplies the words.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Middleware } from './application'
import { type RouteArgument, readArguments } from './arguments'
import type { Bodies } from './body'
import { badRequest, notFound } from './errors'
import { checkHeaders } from './request-headers'
import { type PatternRoute, RouteTree } from './route-tree'
import { rejectUnknownParams, rejectUnusedBody } from './reject-unknown-params'
import type { Talk } from './websockets'

export interface Route<Context> extends PatternRoute {
  readonly controller: new (context: Context) => object
  readonly action: string
  /** Alternatives of user options, any of which is enough; empty admits everybody. */
  readonly security: readonly { readonly basic?: readonly string[]; readonly bearer?: readonly string[] }[]
  readonly args: readonly RouteArgument[]
}

/** A request with known caller, route and body, and its answer. */
export interface Asked<Caller, Context> {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly caller: Caller
  readonly route: Route<Context>
  readonly query: URLSearchParams
  /** Parsed JSON; undefined when there was no body. */
  readonly body: unknown
}

/** What distinguishes one API from another. */
export interface Api<Caller, Context> {
  readonly routes: readonly Route<Context>[]
  /** Names in addresses are decoded, and may be any text. */
  readonly anyName: boolean
  readonly bodyType: RegExp
  /** Refuses unknown parameters: the caller meant them to have an effect. */
  readonly strict: boolean
  /** Throws if the caller cannot be identified. */
  identify(request: IncomingMessage, response: ServerResponse): Promise<Caller>
  /** The user whose bodies count together. */
  nameOf(caller: Caller): string | undefined
  /** Whether this caller gets 404 for a wrong address even before logging in. */
  readonly isToldFirst?: (request: IncomingMessage) => boolean
  /** Throws when the caller may not use this route at all. */
  readonly admit?: (route: Route<Context>, caller: Caller) => void
  wrongMethod(request: IncomingMessage, response: ServerResponse, verbs: Iterable<string>): Error
  /** The object that the controller gets. */
  context(requested: Asked<Caller, Context>): Context
  answer(requested: Asked<Caller, Context>, result: unknown, context: Context): unknown
  refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void
}

/** Turns a request into a websocket. */
type Accept = (talk: Talk) => void

/** The requests for websockets. */
const acceptable = new WeakMap<IncomingMessage, Accept>()

/** The dispatcher may turn the request into a websocket. */
export const offerWebsocket = (request: IncomingMessage, accept: Accept): void => void acceptable.set(request, accept)

/** The verb of a route whose method answers with a talk on a websocket. */
export const WEBSOCKET = 'websocket'

export function createDispatcher<Caller, Context>(api: Api<Caller, Context>, bodies: Pick<Bodies, 'read'>): Middleware {
  const tree = new RouteTree(api.routes, api.anyName)

  return async (request, response) => {
    try {
      const accept = acceptable.get(request)
      const isWebsocket = accept !== undefined
      checkHeaders(request, isWebsocket)
      const early = api.isToldFirst?.(request) ? find(request, response, isWebsocket) : undefined
      const caller = await api.identify(request, response)
      const { route, params } = early ?? find(request, response, isWebsocket)
      api.admit?.(route, caller)
      const query = new URLSearchParams((request.url ?? '').slice(pathOf(request).length))
      if (api.strict) rejectUnknownParams(route, query)
      const body = await bodies.read(request, api.bodyType, api.nameOf(caller))
      if (api.strict) rejectUnusedBody(route, body)
      const requested = { request, response, caller, route, query, body }
      const context = api.context(requested)
      const args = readArguments(route.args, params, query, body, request.headers)
      const result = await call(route, context, args)
      if (accept !== undefined) accept(talkOf(route, result))
      else await api.answer(requested, result, context)
    } catch (error) {
      api.refuse(request, response, error)
    }
  }

  function find(request: IncomingMessage, response: ServerResponse, isWebsocket: boolean) {
    const found = tree.find(pathOf(request))
    if (found === undefined) throw notFound()
    const route = found.byVerb.get(isWebsocket ? WEBSOCKET : (request.method ?? '').toLowerCase())
    if (route === undefined && isWebsocket) throw badRequest(`There is no websocket at ${pathOf(request)}`)
    if (route === undefined) throw api.wrongMethod(request, response, found.byVerb.keys())
    return { route, params: found.params }
  }
}

/** The path without the query. */
export function pathOf(request: IncomingMessage): string {
  const url = request.url ?? ''
  const end = url.indexOf('?')
  return end === -1 ? url : url.slice(0, end)
}

/** For doors that are Ganeti's: slashes at the end of a path mean nothing there. */
export const dropLastSlashes: Middleware = (request, _response, next) => {
  const path = pathOf(request)
  const shorter = path.replace(/\/+$/, '')
  if (shorter !== '' && shorter !== path) request.url = shorter + (request.url ?? '').slice(path.length)
  next()
}

async function call<Context>(route: Route<Context>, context: Context, args: unknown[]): Promise<unknown> {
  const controller = new route.controller(context)
  const action: unknown = Reflect.get(controller, route.action)
  if (typeof action !== 'function') throw new Error(`${route.controller.name} has no ${route.action}`)
  return await Reflect.apply(action, controller, args)
}

function talkOf({ path }: PatternRoute, result: unknown): Talk {
  if (!isTalk(result)) throw new Error(`the method of the websocket ${path} answers with no talk`)
  return result
}

const isTalk = (value: unknown): value is Talk => typeof value === 'function'
