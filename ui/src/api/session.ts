// Signing in and out, and what the signed-in user may do.
import { useSyncExternalStore } from 'react'
import { request, send } from './client'
import { openChannel } from './channel'
import { otherPages, type Told } from './other-pages'
import { type Beyond, refusalOf } from './rights'
import { type Session, sessionStore, type SignedIn } from './session-store'
import { Problem } from './problem'
import { texts } from '../texts'

export type Credentials = { user: string; password: string } | { token: string }

/** Finds out whether this browser has a session already. */
export async function resumeSession(): Promise<void> {
  // Without a session, the answer would be an error in the browser's log.
  if (!sessionStore.mayHaveSession()) return sessionStore.forget()
  try {
    sessionStore.open((await request('GET', '/3/session')) as Session)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    if (sessionStore.get().state === 'unknown') sessionStore.end(error.message)
    // This is the first visit, so the message "session ended" would be wrong.
    if (error.status === 401) sessionStore.forget()
  }
}

/** Loads the browser's session after another page has signed in or out. */
async function look(): Promise<void> {
  try {
    sessionStore.join((await request('GET', '/3/session')) as Session)
  } catch (error) {
    // `send` has already recorded a missing session. If the server is away, the page's queries retry.
    if (!(error instanceof Problem)) throw error
  }
}

let tell: ((what: Told) => void) | undefined

/** From now on, the pages of this browser inform each other when somebody signs in or out. */
export function joinOtherPages(): void {
  tell = otherPages({ channel: openChannel, look, isSignedIn: () => sessionStore.get().state === 'open' })
}

export async function signIn(credentials: Credentials): Promise<void> {
  const headers = { Authorization: authorization(credentials) }
  const answer = await send(new Request('/3/session', { method: 'POST', headers })).catch((error: unknown) => {
    if (!(error instanceof Problem && error.status === 401)) throw error
    throw new Problem(401, 'token' in credentials ? texts.signIn.wrongToken : texts.signIn.wrongPassword)
  })
  sessionStore.open((await answer.json()) as Session)
  tell?.('signed in')
}

export async function signOut(everywhere: boolean): Promise<void> {
  try {
    await request('DELETE', `/3/session?everywhere=${everywhere}`)
  } catch (error) {
    // With 401, the session had already ended.
    if (!(error instanceof Problem && error.status === 401)) throw error
  }
  tell?.('signed out')
  // Loads a new page, because the present one shows data of the user who has left.
  location.assign('/ui/')
}

export const useSignedIn = (): SignedIn =>
  useSyncExternalStore(sessionStore.subscribe, sessionStore.get, sessionStore.get)

/** Whether the signed-in user has a permission. The server decides; this only predicts it. */
export function useMay(): (permission: string) => boolean {
  const { session } = useSignedIn()
  return (permission) => session?.permissions.includes(permission) ?? false
}

/** Why the signed-in user is not allowed to do something; undefined if it is allowed. */
export function useRefusal(): (permission: string, beyond?: Beyond) => string | undefined {
  const { session } = useSignedIn()
  return (permission, beyond) => refusalOf(session, permission, beyond)
}

function authorization(credentials: Credentials): string {
  if ('token' in credentials) return `Bearer ${credentials.token.trim()}`
  const bytes = new TextEncoder().encode(`${credentials.user}:${credentials.password}`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}
