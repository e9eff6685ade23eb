// Signing in and out, and what the signed-in user may do.
import { useSyncExternalStore } from 'react'
import { request, send } from './client'
import { openChannel } from './channel'
import { otherPages, type Told } from './other-pages'
import { type Beyond, refusalOf } from './rights'
import { type Session, sessionStore, type SignedIn } from './session-store'
import { Problem } from './problem'

export type Credentials = { user: string; password: string } | { token: string }

/** Finds out whether this browser has a session already. */
export async function resumeSession(): Promise<void> {
  try {
    sessionStore.open((await request('GET', '/3/session')) as Session)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    if (sessionStore.get().state === 'unknown') sessionStore.end(error.message)
    // Nobody has to be told that there was none.
    if (error.status === 401) sessionStore.forget()
  }
}

/** Learns what session this browser has now, after another page has signed in or out. */
async function look(): Promise<void> {
  try {
    sessionStore.join((await request('GET', '/3/session')) as Session)
  } catch (error) {
    // That there is none has been noted; a server that is away is asked again by what the page shows.
    if (!(error instanceof Problem)) throw error
  }
}

let tell: ((what: Told) => void) | undefined

/** From now on this page and the others of this browser hear of each other's signing in and out. */
export function joinOtherPages(): void {
  tell = otherPages({ channel: openChannel, look, isSignedIn: () => sessionStore.get().state === 'open' })
}

export async function signIn(credentials: Credentials): Promise<void> {
  const headers = { Authorization: authorization(credentials) }
  const answer = await send(new Request('/3/session', { method: 'POST', headers }))
  sessionStore.open((await answer.json()) as Session)
  tell?.('signed in')
}

export async function signOut(everywhere: boolean): Promise<void> {
  try {
    await request('DELETE', `/3/session?everywhere=${everywhere}`)
  } catch (error) {
    // Otherwise it was over already.
    if (!(error instanceof Problem && error.status === 401)) throw error
  }
  tell?.('signed out')
  // What was shown belongs to whoever was signed in.
  location.assign('/ui/')
}

export const useSignedIn = (): SignedIn => useSyncExternalStore(sessionStore.subscribe, sessionStore.get)

/** Whether the signed-in user has a permission. The server decides; this is to say it beforehand. */
export function useMay(): (permission: string) => boolean {
  const { session } = useSignedIn()
  return (permission) => session?.permissions.includes(permission) ?? false
}

/** Why the signed-in user may not do something; undefined when it is allowed. */
export function useRefusal(): (permission: string, beyond?: Beyond) => string | undefined {
  const { session } = useSignedIn()
  return (permission, beyond) => refusalOf(session, permission, beyond)
}

function authorization(credentials: Credentials): string {
  if ('token' in credentials) return `Bearer ${credentials.token.trim()}`
  const bytes = new TextEncoder().encode(`${credentials.user}:${credentials.password}`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}
