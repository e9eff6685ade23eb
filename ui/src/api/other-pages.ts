// The pages of a browser share its session. When somebody signs in or out at one of them, it tells the others, so that none goes on asking for a
// password in vain, or shows what is no longer anybody's.

const CHANNEL = 'gantry session'

export type Told = 'signed in' | 'signed out'

interface Surroundings {
  /** Pages hear what others say at a channel of the same name. */
  readonly channel: (name: string, hear: (message: unknown) => void) => { postMessage(message: unknown): void }
  /** Asks the server what session this browser has now. */
  readonly look: () => Promise<void>
  readonly isSignedIn: () => boolean
}

/** Returns how this page tells the others. */
export function otherPages({ channel, look, isSignedIn }: Surroundings): (what: Told) => void {
  const line = channel(CHANNEL, (message) => {
    // Whoever was not signed in here has nothing to lose.
    if (message === 'signed in' || isSignedIn()) void look()
  })
  return (what) => line.postMessage(what)
}
