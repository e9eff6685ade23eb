// Rules for the headers of every request.
import type { IncomingMessage } from 'node:http'
import { badRequest, HttpError } from './errors'

/**
 * Throws for a request without Host, and for a change or websocket that a page of another site requests through a
 * browser.
 */
export function checkHeaders(request: IncomingMessage, isWebsocket = false): void {
  if (request.headers.host === undefined && request.httpVersion === '1.1') throw badRequest('Missing Host header')
  if (isWebsocket || !READS.has(request.method ?? '')) refuseForeignPage(request)
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])

/** A browser that has logged in sends the password with any page's requests. Only browsers send these headers. */
function refuseForeignPage({ headers: { host, origin, 'sec-fetch-site': site } }: IncomingMessage): void {
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw foreign(`Sec-Fetch-Site is ${site}`)
  const own = hostOf(`https://${host}`)
  if (origin !== undefined && (own === undefined || hostOf(origin) !== own))
    throw foreign(`Origin is ${origin} and Host is ${host}`)
}

const foreign = (text: string): HttpError =>
  new HttpError(
    403,
    `${text}: a page of another site may change nothing here. Use a page of this server, such as /docs/, or a program that` +
      ' does not send this header; a proxy in between must hand on the Host that the browser sent',
  )

/** With the port, unless it is the default; undefined for `null` and for texts that are no address. */
const hostOf = (url: string): string | undefined => (URL.canParse(url) ? new URL(url).host : undefined)
