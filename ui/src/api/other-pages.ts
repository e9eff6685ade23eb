// All pages of a browser share its session. A page announces when somebody signs in or out, so that other pages close their sign-in dialog, or
// stop showing data of a user who has left.

const CHANNEL = 'gantry session'

export type Told = 'signed in' | 'signed out'

interface Surroundings {
  /** Connects this page with all pages that use the same channel name. */
  readonly channel: (name: string, hear: (message: unknown) => void) => { postMessage(message: unknown): void }
  /** Loads the browser's present session from the server. */
  readonly look: () => Promise<void>
  readonly isSignedIn: () => boolean
}

/** Returns the function with which this page informs the others. */
export function otherPages({ channel, look, isSignedIn }: Surroundings): (what: Told) => void {
  const line = channel(CHANNEL, (message) => {
    // A page without a session ignores that somebody has signed out.
    if (message === 'signed in' || isSignedIn()) void look()
  })
  return (what) => line.postMessage(what)
}
