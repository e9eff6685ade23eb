// A request's body as JSON. Every bound on it is checked before it is parsed or handed on.
import type { IncomingMessage } from 'node:http'
import { isDeeper } from '../../lib/json-depth'
import { RAPI_BODY_BYTES_MAX, RAPI_BODY_DEPTH_MAX } from '../../model/limits'
import { badRequest, HttpError } from './errors'

/** undefined when there is no body, whatever the headers say of its type. */
export async function readBody(request: IncomingMessage): Promise<unknown> {
  const { 'content-length': length, 'transfer-encoding': encoding, 'content-type': type } = request.headers
  if (encoding === undefined && (length === undefined || length === '0')) return undefined
  if (Number(length ?? 0) > RAPI_BODY_BYTES_MAX) throw new HttpError(413)
  const text = await readText(request)
  if (text === '') return undefined
  if (type?.toLowerCase() !== 'application/json') throw new HttpError(415)
  const body = parse(text)
  if (isDeeper(body, RAPI_BODY_DEPTH_MAX))
    throw badRequest(`JSON data is nested deeper than ${RAPI_BODY_DEPTH_MAX} levels`)
  return body
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) continue
    size += chunk.length
    if (size > RAPI_BODY_BYTES_MAX) throw new HttpError(413)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('Unable to parse JSON data')
  }
}
