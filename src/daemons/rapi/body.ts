// A request's body as JSON. Every bound on it is checked before it is parsed or handed on.
import type { IncomingMessage } from 'node:http'
import { isDeeper } from '../../lib/json-depth'
import { hearAll } from '../../lib/clock'
import { readBody as readText, SenderLeft } from '../../lib/read-body'
import { RAPI_BODY_BYTES_MAX, RAPI_BODY_DEPTH_MAX } from '../../model/limits'
import { badRequest, HttpError } from './errors'

/**
 * undefined when there is no body, whatever the headers say of its type. A change is refused when its sender has hung up while this
 * daemon was stopped or busy: the sender may have asked for something else since then.
 */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const body = await readJson(request)
  if (request.method === 'GET') return body
  await hearAll()
  if (request.socket.destroyed || request.socket.readableEnded) throw new SenderLeft('the client has left')
  return body
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const { 'content-length': length, 'transfer-encoding': encoding, 'content-type': type } = request.headers
  if (encoding === undefined && (length === undefined || length === '0')) return undefined
  const text = await readText(request, RAPI_BODY_BYTES_MAX)
  if (text === undefined) throw new HttpError(413)
  if (text === '') return undefined
  if (type?.toLowerCase() !== 'application/json') throw new HttpError(415)
  const body = parse(text)
  if (isDeeper(body, RAPI_BODY_DEPTH_MAX))
    throw badRequest(`JSON data is nested deeper than ${RAPI_BODY_DEPTH_MAX} levels`)
  return body
}

/** Told by its headers: nothing of it need be read. */
export const isTooLong = ({ headers }: IncomingMessage): boolean =>
  Number(headers['content-length'] ?? 0) > RAPI_BODY_BYTES_MAX

function parse(text: string): unknown {
  // What is no UTF-8 was read as this character, which Ganeti's master refuses as well.
  if (/\ufffd|\\ufffd/i.test(text)) throw badRequest('Unable to parse JSON data')
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('Unable to parse JSON data')
  }
}
