// Refuses parts of a request that its route does not know.
import type { RouteArgument } from './arguments'
import { badRequest } from './errors'

interface Known {
  readonly verb: string
  readonly path: string
  readonly args: readonly RouteArgument[]
}

/** Refuses unknown query parameters: the caller meant them to have an effect. */
export function rejectUnknownParams({ args }: Known, query: URLSearchParams): void {
  const known = args.flatMap(({ in: where, name }) => (where === 'query' ? [name] : []))
  const there = known.length === 0 ? 'this request takes none' : `there are ${known.join(', ')}`
  for (const name of query.keys()) {
    if (!known.includes(name)) throw badRequest(`There is no query argument '${name}': ${there}`)
    if (query.getAll(name).length > 1) throw badRequest(`${name}: may be given only once`)
  }
}

/** Accepts an empty body, because some clients always send one. */
export function rejectUnusedBody({ args, verb, path }: Known, body: unknown): void {
  if (body === undefined || body === null || args.some((arg) => arg.in === 'body')) return
  if (typeof body === 'object' && !Array.isArray(body) && Object.keys(body).length === 0) return
  throw badRequest(`${verb.toUpperCase()} ${path} takes no body: leave it out`)
}
