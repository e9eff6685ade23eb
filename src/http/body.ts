// Reads a request's body as JSON. Checks all bounds before parsing.
import type { IncomingMessage } from 'node:http'
import { hearAll } from '../lib/clock'
import { hasMoreValues, isDeeper } from '../lib/text/json-depth'
import { readBody as readText, SenderLeft } from '../lib/net/read-body'
import { Quota } from '../lib/net/quota'
import type { HttpLimits } from '../model/limits/http'
import { badRequest, HttpError, tooMany } from './errors'

/** JSON is always UTF-8, but many libraries add a charset. */
export const JSON_TYPE = /^application\/json(\s*;\s*charset="?utf-8"?)?$/i

/** Reads the bodies of all requests to one door. Long ones share a limited room. */
export class Bodies {
  private readonly long: Quota

  constructor(private readonly limits: HttpLimits) {
    this.long = new Quota({ all: limits.long_bodies, each: limits.long_bodies_per_user })
  }

  /**
   * undefined without a body, whatever its headers say. Refuses a change whose sender has left while this daemon was
   * stopped or busy: the sender may have asked for something else since.
   */
  async read(request: IncomingMessage, type: RegExp, user = ''): Promise<unknown> {
    const body = await this.readJson(request, type, user)
    if (request.method === 'GET') return body
    await hearAll()
    if (request.socket.destroyed || request.socket.readableEnded) throw new SenderLeft('the client has left')
    return body
  }

  private async readJson(request: IncomingMessage, type: RegExp, user: string): Promise<unknown> {
    const { body_bytes, long_body_bytes, body_values, body_depth } = this.limits
    const { 'content-length': length, 'transfer-encoding': encoding, 'content-type': input = '' } = request.headers
    if (encoding === undefined && (length === undefined || length === '0')) return undefined
    const isShort = encoding === undefined && Number(length) <= long_body_bytes
    const text = await (isShort ? readText(request, body_bytes) : this.readLong(request, user))
    if (text === undefined) throw new HttpError(413)
    if (text === '') return undefined
    if (!type.test(input)) throw new HttpError(415)
    if (hasMoreValues(text, body_values))
      throw badRequest(`JSON data has more than ${body_values} values; send it in several requests`)
    const body = parse(text)
    if (isDeeper(body, body_depth)) throw badRequest(`JSON data is nested deeper than ${body_depth} levels`)
    return body
  }

  /** It takes room while it arrives, however slowly. */
  private async readLong(request: IncomingMessage, user: string): Promise<string | undefined> {
    const { body_bytes, long_bodies, long_bodies_per_user, retry_after_s } = this.limits
    // Such a body is not read at all.
    if (isTooLong(request, this.limits)) return undefined
    const full = this.long.full(user)
    if (full === 'each')
      throw tooMany(`The user ${user} sends ${long_bodies_per_user} long bodies already`, retry_after_s)
    if (full === 'all') throw new HttpError(503, `${long_bodies} long bodies are being read already`)
    const giveBack = this.long.take(user)
    try {
      return await readText(request, body_bytes)
    } finally {
      giveBack()
    }
  }
}

/** By its headers, without reading it. */
export const isTooLong = ({ headers }: IncomingMessage, { body_bytes }: Pick<HttpLimits, 'body_bytes'>): boolean =>
  Number(headers['content-length'] ?? 0) > body_bytes

function parse(text: string): unknown {
  // Node decodes invalid UTF-8 as this character.
  if (/\ufffd|\\ufffd/i.test(text)) throw badRequest('Unable to parse JSON data')
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest('Unable to parse JSON data')
  }
}
