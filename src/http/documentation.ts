// Loads the documentation pages on demand.
import type { Middleware } from './application'
import type { Contract } from './pages'
import { securityHeaders } from './security-headers'

/** The documentation, at /docs. It is loaded with its first reader, since most daemons never show it. */
export function documentation(contract: Contract): Middleware {
  let pages: Middleware | undefined
  return (request, response, next) => {
    if (pages === undefined) {
      const { createPages }: typeof import('./pages') = require('./pages')
      pages = createPages(contract)
    }
    return pages(request, response, next)
  }
}

/**
 * Swagger UI sets styles of elements and embeds icons in its style sheet. Scripts and requests come only from this
 * server.
 */
export const documentationHeaders = securityHeaders({
  defaultSrc: ["'self'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:'],
  objectSrc: ["'none'"],
  baseUri: ["'self'"],
  frameAncestors: ["'none'"],
})
