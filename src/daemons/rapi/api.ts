// Ganeti's API below /2: its access rules, and its answers, which equal Ganeti's to the last blank.
import type { ServerResponse } from 'node:http'
import { noteAccess } from '../../http/access-log'
import type { Api, Route } from '../../http/dispatch'
import { HttpError, retryAfter } from '../../http/errors'
import type { Identify } from '../../http/passport'
import type { Clock } from '../../lib/clock'
import { finishAnswer } from '../../lib/net/finish-answer'
import { slices, writeSlice } from '../../lib/work/slices'
import { RETRY_AFTER_S } from '../../model/limits/http'
import { ENTRIES_AT_ONCE } from '../../model/limits/queries'
import { RAPI_BYTES_AT_ONCE, RAPI_SHORT_BYTES_MAX, RAPI_STALLED_S } from '../../model/limits/rapi'
import { DROPPED_BODY } from '../../model/limits/wires'
import { JsonText } from '../../rpc/long-answers'
import { CHALLENGE, checkAccess } from './auth'
import { RapiContext, type RapiServices } from './context'
import { errorReply, LINE } from './errors'
import { pythonJson } from './python'
import { PythonWriter } from './python-writer'
import { readPermission } from './read-permission'
import { TextAnswer } from './tables'
import type { User } from './users'

export interface GanetiOptions extends RapiServices {
  readonly identify: Identify<User>
  /** If this is false, anyone may read what needs no option. */
  readonly requireAuthentication: boolean
}

export function ganetiApi(
  routes: readonly Route<RapiContext>[],
  options: GanetiOptions,
): Api<User | undefined, RapiContext> {
  const { log, clock, requireAuthentication } = options
  const resources = new Map(routes.map(({ path }) => [path, resourceName(path)]))
  return {
    routes,
    anyName: false,
    bodyType: GANETI_TYPE,
    strict: false,
    // A caller with a password, right or wrong, gets the error for a wrong address or method before the password is
    // checked.
    isToldFirst: ({ headers }) => headers.authorization !== undefined,
    async identify(request, response) {
      const user = await options.identify(request, response)
      if (user !== undefined) noteAccess(request, { user: user.name })
      if (user === undefined && requireAuthentication) throw new HttpError(401)
      return user
    },
    nameOf: (user) => user?.name,
    admit({ security }, user) {
      for (const { basic = [] } of security) checkAccess(user, basic)
    },
    wrongMethod: ({ method, url }) => new HttpError(501, `Method ${method} is unsupported for path ${url}`),
    context(requested) {
      const { route, caller: user } = requested
      const context = new RapiContext(options, requested, { user, resource: resources.get(route.path) ?? '' })
      const permission = readPermission(route)
      if (permission !== undefined) context.need(permission)
      return context
    },
    answer({ request, response }, result) {
      // If an answer is a number, it is a job's id.
      if (typeof result === 'number' && request.method !== 'GET') noteAccess(request, { job: result })
      return reply(response, result, clock)
    },
    refuse(_request, response, error) {
      const { status, body } = errorReply(error, log)
      if (status === 401) response.setHeader('WWW-Authenticate', CHALLENGE)
      response.setHeaders(new Map(Object.entries(retryAfter(status, error, RETRY_AFTER_S))))
      // An oversized body is only read up to a limit, so the connection cannot be used again.
      if (status === 413) response.setHeader('Connection', 'close')
      send(response, status, body, clock)
    },
  }
}

const GANETI_TYPE = /^application\/json$/i

/** Ganeti's handlers whose names differ from their paths. */
const SPECIAL: Readonly<Record<string, string>> = { modify: 'cluster_modify', redistribute_config: 'redist_config' }

/** The path without its variables, the name in reason trails. */
function resourceName(path: string): string {
  const parts = path.split('/').slice(2)
  const named = parts.filter((part) => !/^:(index|resource)$/.test(part)).map((part) => part.replace(':', ''))
  const name = named.join('_').replaceAll('-', '_')
  return SPECIAL[name] ?? name
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

/** Each piece is sent when its reader has room. An answer of at most one buffer states its length. */
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
    // Waiting parts are sent together, since each slice waits for its turn among other lists.
    const ready = waiting.length > 1 ? Buffer.concat(waiting) : bytes
    waiting = []
    await writeSlice(response, ready)
  }
  const rest = Buffer.concat(waiting)
  if (response.headersSent) response.end(Buffer.concat([rest, LINE]))
  else send(response, 200, rest, clock)
}

/** Pieces are bounded, so that handling one takes a short time even when the code has not run before. */
async function* partsOf({ pieces }: JsonText): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    for (let at = 0; at < bytes.length; at += RAPI_BYTES_AT_ONCE) yield bytes.subarray(at, at + RAPI_BYTES_AT_ONCE)
  }
}

/** A reader that takes nothing for this long counts as gone. */
function beginLong(response: ServerResponse): void {
  response.setTimeout(RAPI_STALLED_S * 1000, () => response.destroy())
  response.writeHead(200, { 'Content-Type': 'application/json' })
}

function send(response: ServerResponse, status: number, json: Buffer, clock: Clock): void {
  if (response.destroyed) return
  // A client that already has the beginning notices the failure because the answer is cut off.
  if (response.headersSent) return void response.destroy()
  const data = Buffer.concat([json, LINE])
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': data.length })
  void finishAnswer(response, data, clock, DROPPED_BODY)
}
