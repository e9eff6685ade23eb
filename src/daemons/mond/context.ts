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
  /** The collectors that the configuration names. It waits a moment for the first to tell; undefined when nobody has. */
  readonly named: () => Promise<ReadonlySet<string> | undefined>
}

export interface MondOptions extends MondContext {
  readonly log: Log
  readonly random: Random
  readonly files: Files
  readonly addresses: readonly string[]
  /** 0 picks a free one. */
  readonly port: number
  readonly accessLog: AccessLevel
  /** For its page: as the configuration calls this node. */
  readonly hostname: string
  /** Seconds since the configuration was told; undefined before the first time. */
  readonly configAge_s: () => number | undefined
}

/** An answer that is JSON already. */
export class Written {
  constructor(readonly text: string) {}
}

/** For the compiler it is the value that the text shows. */
export const written = <T>(text: string): T => new Written(text) as unknown as T
