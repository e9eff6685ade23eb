// The controllers of this door get these.
import type { Monitor } from '../../collectors/monitor'
import type { Clock } from '../../lib/clock'

export interface MondContext {
  readonly monitor: Monitor
  readonly clock: Clock
  /** The collectors that the configuration names. It waits a moment for the first to tell; undefined when nobody has. */
  readonly named: () => Promise<ReadonlySet<string> | undefined>
}

/** An answer that is JSON already. */
export class Written {
  constructor(readonly text: string) {}
}

/** For the compiler it is the value that the text shows. */
export const written = <T>(text: string): T => new Written(text) as unknown as T
