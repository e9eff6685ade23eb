// The session, for all components of the page.
import type { components } from './schema'

export type Session = components['schemas']['SessionView']

export interface SignedIn {
  /** `unknown` until the server has answered. In the state `ended`, the page keeps its content while the user signs in again. */
  readonly state: 'unknown' | 'none' | 'open' | 'ended'
  readonly session?: Session
  /** Why the session has ended. */
  readonly why?: string
}

let now: SignedIn = { state: 'unknown' }
const listeners = new Set<() => void>()

function become(next: SignedIn): void {
  now = next
  for (const listener of listeners) listener()
}

/** Whether both sessions see the same data. A token may see less than its user. */
const isSameUser = (one: Session, other: Session): boolean => one.user === other.user && one.token === other.token

export const sessionStore = {
  get: () => now,
  /** The scope of the token with which the user has signed in; null for all objects. */
  scope: (): Session['scope'] => now.session?.scope ?? null,
  subscribe(listener: () => void) {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
  open(session: Session): void {
    // The page and its typed input belong to the previous user.
    if (now.session !== undefined && !isSameUser(now.session, session)) return location.reload()
    become({ state: 'open', session })
  },
  /** Takes over the session of another page. A page whose session has ended keeps its input for its own user. */
  join(session: Session): void {
    const { state, session: before } = now
    if (state === 'ended' && before !== undefined && !isSameUser(before, session)) return
    sessionStore.open(session)
  },
  /** Ends the session. The page keeps its content if somebody was signed in. */
  end: (why: string) => become(now.session === undefined ? { state: 'none', why } : { ...now, state: 'ended', why }),
  forget: () => become({ state: 'none' }),
}
