// Who is signed in, as the whole page knows it.
import type { components } from './schema'

export type Session = components['schemas']['SessionView']

export interface SignedIn {
  /** `unknown` until the server has been asked. After `ended`, what is on the page stays there while its user signs in again. */
  readonly state: 'unknown' | 'none' | 'open' | 'ended'
  readonly session?: Session
  /** Why it has ended. */
  readonly why?: string
}

let now: SignedIn = { state: 'unknown' }
const listeners = new Set<() => void>()

function become(next: SignedIn): void {
  now = next
  for (const listener of listeners) listener()
}

/** A token may see less than its user. */
const isSameUser = (one: Session, other: Session): boolean => one.user === other.user && one.token === other.token

export const sessionStore = {
  get: () => now,
  /** The objects for which the token is that was signed in with; null for all. */
  scope: (): Session['scope'] => now.session?.scope ?? null,
  subscribe(listener: () => void) {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
  open(session: Session): void {
    // The page, and all that was typed there, belongs to whoever was signed in before.
    if (now.session !== undefined && !isSameUser(now.session, session)) return location.reload()
    become({ state: 'open', session })
  },
  /** Another page has signed in. What was typed here is kept for its own user, unless this page would go on as somebody else. */
  join(session: Session): void {
    const { state, session: before } = now
    if (state === 'ended' && before !== undefined && !isSameUser(before, session)) return
    sessionStore.open(session)
  },
  /** A page that shows something is kept; else there is nothing to keep. */
  end: (why: string) => become(now.session === undefined ? { state: 'none', why } : { ...now, state: 'ended', why }),
  forget: () => become({ state: 'none' }),
}
