// A request's body as JSON. Every bound on it is checked before it is parsed or handed on.
import type { IncomingMessage } from 'node:http'
import { hasMoreValues, isDeeper } from '../../lib/json-depth'
import { hearAll } from '../../lib/clock'
import { readBody as readText, SenderLeft } from '../../lib/read-body'
import { Shares } from '../../lib/shares'
import {
  RAPI_BODY_BYTES_MAX,
  RAPI_BODY_DEPTH_MAX,
  RAPI_BODY_VALUES_MAX,
  RAPI_LONG_BODIES_MAX,
  RAPI_LONG_BODIES_PER_USER_MAX,
  RAPI_LONG_BODY_BYTES,
  RETRY_AFTER_S,
} from '../../model/limits/rapi'
import { badRequest, HttpError, tooMany } from './errors'

/** In Ganeti's contract, and in ours: JSON is UTF-8 anyway, and many libraries say so. */
export const GANETI_TYPE = /^application\/json$/i
export const JSON_TYPE = /^application\/json(\s*;\s*charset="?utf-8"?)?$/i

/**
 * undefined when there is no body, whatever the headers say of its type. A change is refused when its sender has hung up while this
 * daemon was stopped or busy: the sender may have asked for something else since then.
 */
export async function readBody(request: IncomingMessage, type: RegExp, user = ''): Promise<unknown> {
  const body = await readJson(request, type, user)
  if (request.method === 'GET') return body
  await hearAll()
  if (request.socket.destroyed || request.socket.readableEnded) throw new SenderLeft('the client has left')
  return body
}

async function readJson(request: IncomingMessage, type: RegExp, user: string): Promise<unknown> {
  const { 'content-length': length, 'transfer-encoding': encoding, 'content-type': given = '' } = request.headers
  if (encoding === undefined && (length === undefined || length === '0')) return undefined
  const isShort = encoding === undefined && Number(length) <= RAPI_LONG_BODY_BYTES
  const text = await (isShort ? readText(request, RAPI_BODY_BYTES_MAX) : readLong(request, user))
  if (text === undefined) throw new HttpError(413)
  if (text === '') return undefined
  if (!type.test(given)) throw new HttpError(415)
  if (hasMoreValues(text, RAPI_BODY_VALUES_MAX))
    throw badRequest(`JSON data has more than ${RAPI_BODY_VALUES_MAX} values; send it in several requests`)
  const body = parse(text)
  if (isDeeper(body, RAPI_BODY_DEPTH_MAX))
    throw badRequest(`JSON data is nested deeper than ${RAPI_BODY_DEPTH_MAX} levels`)
  return body
}

const longBodies = new Shares({ all: RAPI_LONG_BODIES_MAX, each: RAPI_LONG_BODIES_PER_USER_MAX })

/** It takes room as it comes, however slowly. */
async function readLong(request: IncomingMessage, user: string): Promise<string | undefined> {
  // Such a body is not read at all.
  if (isTooLong(request)) return undefined
  const full = longBodies.full(user)
  if (full === 'each')
    throw tooMany(`The user ${user} sends ${RAPI_LONG_BODIES_PER_USER_MAX} long bodies already`, RETRY_AFTER_S)
  if (full === 'all') throw new HttpError(503, `${RAPI_LONG_BODIES_MAX} long bodies are being read already`)
  const giveBack = longBodies.take(user)
  try {
    return await readText(request, RAPI_BODY_BYTES_MAX)
  } finally {
    giveBack()
  }
}

/** Told by its headers: nothing of it need be read. */
export const isTooLong = ({ headers }: IncomingMessage): boolean =>
  Number(headers['content-length'] ?? 0) > RAPI_BODY_BYTES_MAX

function parse(text: string): unknown {
  // Node reads bytes that are not UTF-8 as this character. Ganeti's master refuses it as well.
  if (/\ufffd|\\ufffd/i.test(text)) throw badRequest('Unable to parse JSON data')
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('Unable to parse JSON data')
  }
}
