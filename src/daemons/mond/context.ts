// The controllers of this door get these.
import type { Monitor } from '../../collectors/monitor'
import type { Clock } from '../../lib/clock'

export interface MondContext {
  readonly monitor: Monitor
  readonly clock: Clock
  /** The collectors that the configuration names; undefined while nobody has told. */
  readonly named: () => ReadonlySet<string> | undefined
}

/** An answer that is JSON already. */
export class Written {
  constructor(readonly text: string) {}
}

/** For the compiler it is the value that the text shows. */
export const written = <T>(text: string): T => new Written(text) as unknown as T
