// The only place that speaks to the server: requests to /3, in the session of this browser. The types are those of openapi/rapi.json.
import createClient from 'openapi-fetch'
import { Presence } from './presence'
import { Problem, problemOf, unreachable } from './problem'
import type { paths } from './schema'
import { type Session, sessionStore } from './session-store'
import { texts } from '../texts'

export const api = createClient<paths>({ baseUrl: '/', fetch: send })

export const presence = new Presence(() => void sayPresent().catch(() => undefined))

/** Learns by that whether the session is still there, or there again; before anybody has signed in, there is none to keep. */
export async function sayPresent(): Promise<void> {
  const { session } = sessionStore.get()
  if (session === undefined) return
  const now = (await request('GET', '/3/session')) as Session
  if (sessionStore.get().session === session) sessionStore.open(now)
}

/** The answer's content; what is no success is thrown as a Problem. */
export async function got<T>(asked: Promise<{ data?: T }>): Promise<T> {
  const { data } = await asked
  if (data === undefined) throw new Problem(502, texts.problems.empty)
  return data
}

/** A request whose address is put together from data, as of actions. */
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

/** Sends the session's token along, and notes when the session is over. */
export async function send(asked: Request): Promise<Response> {
  const { session } = sessionStore.get()
  const again = asked.clone()
  asked.headers.set('X-CSRF-Token', session?.csrf ?? 'none')
  presence.mark(asked.headers)
  const answer = await fetch(asked).catch((error: unknown) => {
    if (asked.signal.aborted) throw error
    throw unreachable()
  })
  if (answer.ok) return answer
  const problem = await problemOf(answer)
  if (asked.headers.has('Authorization')) throw problem
  // Somebody has signed in while the request was on its way, here or in another window. What was refused had no effect.
  if (problem.status === 403 && asked.method !== 'GET') await renew(session)
  const now = sessionStore.get()
  if ((problem.status === 401 || problem.status === 403) && now.state === 'open' && now.session?.csrf !== session?.csrf)
    return send(again)
  if (problem.status === 401) sessionStore.end(problem.message)
  throw problem
}

/** Learns the session that this browser has now, where another window has replaced it. */
async function renew(session: Session | undefined): Promise<void> {
  if (session === undefined) return
  const now = (await request('GET', '/3/session')) as Session
  if (now.csrf !== session.csrf && sessionStore.get().session === session) sessionStore.open(now)
}
