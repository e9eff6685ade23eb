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

/** Scripts cannot see the session's cookie. This mark tells that the browser may have one. */
const MARK = 'gantry-signed-in'
const kept: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined = Reflect.get(globalThis, 'localStorage')

function become(next: SignedIn): void {
  now = next
  mark(next.state === 'open')
  for (const listener of listeners) listener()
}

function mark(hasSession: boolean): void {
  try {
    if (hasSession) kept?.setItem(MARK, '1')
    else kept?.removeItem(MARK)
  } catch {
    // A browser that keeps nothing is asked for its session at each visit.
  }
}

/** Whether both sessions see the same data. A token may see less than its user. */
const isSameUser = (one: Session, other: Session): boolean => one.user === other.user && one.token === other.token

export const sessionStore = {
  get: () => now,
  /** Whether it makes sense to ask the server for the session. */
  mayHaveSession(): boolean {
    try {
      return kept === undefined || kept.getItem(MARK) !== null
    } catch {
      return true
    }
  },
  /** The scope of the token with which the user has signed in; null for all objects. */
  scope: (): Session['scope'] => now.session?.scope ?? null,
  subscribe(listener: () => void) {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
  open(session: Session): void {
    // The page and its typed input belong to the previous user.
    if (now.session !== undefined && !isSameUser(now.session, session)) {
      mark(true)
      return location.reload()
    }
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
