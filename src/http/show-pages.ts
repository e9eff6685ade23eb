// Loads the documentation pages on demand.
import type { Handler } from './dispatch'
import type { Contract } from './pages'

/** The documentation below /docs. It is loaded with its first reader, since most daemons never show it. */
export function showPages(contract: Contract): Handler {
  let pages: Handler | undefined
  return (request, response) => {
    if (pages === undefined) {
      const { createPages }: typeof import('./pages') = require('./pages')
      pages = createPages(contract)
    }
    return pages(request, response)
  }
}
