// A daemon's own small page for people, and its figures for Prometheus.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Middleware } from './application'
import { securityHeaders } from './security-headers'

export const HTML = 'text/html; charset=utf-8'

/** Programs, which do not ask for HTML, get another route. */
export const forReaders: Middleware = ({ headers }: IncomingMessage, _response, next) =>
  next(/\btext\/html\b/.test(headers.accept ?? '') ? undefined : 'route')

/** The page contains its styles, and loads nothing else. */
export const smallPageHeaders = securityHeaders({
  defaultSrc: ["'none'"],
  styleSrc: ["'unsafe-inline'"],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
})

export function show(response: ServerResponse, text: string, type: string): void {
  const data = Buffer.from(text)
  response
    .writeHead(200, { 'Content-Type': type, 'Content-Length': data.length, 'Cache-Control': 'no-store' })
    .end(data)
}
