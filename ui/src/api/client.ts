// The only place that speaks to the server: requests to /3, in the session of this browser. The types are those of openapi/rapi.json.
import createClient from 'openapi-fetch'
import { Problem, problemOf, unreachable } from './problem'
import type { paths } from './schema'
import { sessionStore } from './session-store'

export const api = createClient<paths>({ baseUrl: '/', fetch: send })

/** The answer's content; what is no success is thrown as a Problem. */
export async function got<T>(asked: Promise<{ data?: T }>): Promise<T> {
  const { data } = await asked
  if (data === undefined) throw new Problem(502, 'The answer was empty')
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
  asked.headers.set('X-CSRF-Token', sessionStore.get().session?.csrf ?? 'none')
  const answer = await fetch(asked).catch((error: unknown) => {
    if (asked.signal.aborted) throw error
    throw unreachable()
  })
  if (answer.ok) return answer
  const problem = await problemOf(answer)
  if (problem.status === 401 && !asked.headers.has('Authorization')) sessionStore.end(problem.message)
  throw problem
}
