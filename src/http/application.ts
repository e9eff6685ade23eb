// The application of a door: its parts answer a request, or hand it to the next one, from top to bottom.
import type { IncomingMessage, ServerResponse } from 'node:http'

/** Without an error: another part answers. `route`: another route does. */
type Next = (error?: unknown) => void

/** Answers, or calls `next`. Whatever it throws, or rejects with, is answered with 500. */
export type Middleware = (request: IncomingMessage, response: ServerResponse, next: Next) => unknown

/** Requests and answers are Node's own: they have none of the methods that a whole application of express gives them. */
export interface Application {
  /** Calls `done` if no part answers. */
  (request: IncomingMessage, response: ServerResponse, done: Next): void
  use(...parts: Middleware[]): this
  /** In these parts, the address begins behind `path`. */
  use(path: string, ...parts: Middleware[]): this
  /** HEAD, too. */
  get(path: string | readonly string[], ...parts: Middleware[]): this
}

/**
 * The router of express, which is a package of its own. All of express would change the prototype of each request, which
 * costs several times as much as an answer, and take six megabytes of each daemon.
 */
const createRouter: (options: { strict: boolean; caseSensitive: boolean }) => Application = require('router')

export const createApplication = (): Application => createRouter({ strict: true, caseSensitive: true })
