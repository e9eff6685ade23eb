// The options of the daemon, and the part of them that its controllers get.
import type { History } from '../../collectors/history/history'
import type { Monitor } from '../../collectors/monitor'
import type { AccessLevel } from '../../lib/access-level'
import type { Clock } from '../../lib/clock'
import type { Files } from '../../lib/files'
import type { Log } from '../../lib/log'
import type { Random } from '../../lib/random'

export interface MondContext {
  readonly monitor: Monitor
  readonly history: Pick<History, 'ofNode' | 'ofInstance'>
  readonly clock: Clock
  /** The collectors that the configuration names. Waits a moment for the first answer; undefined if there is none. */
  readonly named: () => Promise<ReadonlySet<string> | undefined>
}

export interface MondOptions extends MondContext {
  readonly log: Log
  readonly random: Random
  readonly files: Files
  readonly addresses: readonly string[]
  /** 0 chooses a free port. */
  readonly port: number
  readonly accessLog: AccessLevel
  /** For its page: the node's name in the configuration. */
  readonly hostname: string
  /** Seconds since the last answer about the configuration; undefined before the first one. */
  readonly configAge_s: () => number | undefined
}

/** An answer that is already JSON. */
export class Written {
  constructor(readonly text: string) {}
}

/** For the compiler it is the value in the text. */
export const written = <T>(text: string): T => new Written(text) as unknown as T
