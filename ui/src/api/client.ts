// The only module that contacts the server. It sends requests to /3 in the browser's session. Their types are generated from openapi/rapi.json.
import createClient from 'openapi-fetch'
import { Presence } from './presence'
import { Problem, problemOf, unreachable } from './problem'
import type { paths } from './schema'
import { type Session, sessionStore } from './session-store'
import { texts } from '../texts'

export const api = createClient<paths>({ baseUrl: '/', fetch: send })

export const presence = new Presence(() => void sayPresent().catch(() => undefined))

/** Keeps the session alive, and stores its present state. Before the first sign-in there is no session. */
export async function sayPresent(): Promise<void> {
  const { session } = sessionStore.get()
  if (session === undefined) return
  const now = (await request('GET', '/3/session')) as Session
  if (sessionStore.get().session === session) sessionStore.open(now)
}

/** Returns the content of an answer. An answer without content is a Problem; `send` throws one for every error status. */
export async function got<T>(requested: Promise<{ data?: T }>): Promise<T> {
  const { data } = await requested
  if (data === undefined) throw new Problem(502, texts.problems.empty)
  return data
}

/** Sends a request whose path is known only at run time, such as one of an action. */
export async function request(
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const json =
    body === undefined
      ? { headers }
      : { body: JSON.stringify(body), headers: { ...headers, 'Content-Type': 'application/json' } }
  const answer = await send(new Request(new URL(path, location.origin), { method, ...json }))
  return answer.status === 204 ? null : answer.json()
}

/** Adds the session's CSRF token, and records when the session has ended. */
export async function send(requested: Request): Promise<Response> {
  const { session } = sessionStore.get()
  const again = requested.clone()
  requested.headers.set('X-CSRF-Token', session?.csrf ?? 'none')
  presence.mark(requested.headers)
  const answer = await fetch(requested).catch((error: unknown) => {
    if (requested.signal.aborted) throw error
    throw unreachable()
  })
  if (answer.ok) return answer
  const problem = await problemOf(answer)
  if (requested.headers.has('Authorization')) throw problem
  // If somebody has signed in meanwhile, here or in another window, the request is sent again. A refused request had no effect.
  if (problem.status === 403 && requested.method !== 'GET') await renew(session)
  const now = sessionStore.get()
  if ((problem.status === 401 || problem.status === 403) && now.state === 'open' && now.session?.csrf !== session?.csrf)
    return send(again)
  if (problem.status === 401) sessionStore.end(problem.message)
  throw problem
}

/** Loads the browser's session if another window has replaced it. */
async function renew(session: Session | undefined): Promise<void> {
  if (session === undefined) return
  const now = (await request('GET', '/3/session')) as Session
  if (now.csrf !== session.csrf && sessionStore.get().session === session) sessionStore.open(now)
}
