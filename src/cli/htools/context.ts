// The outside world of the allocation programs: two streams, files, a cluster, time, chance, and a way to exit.
import type { NodeSources } from '../../collectors/report'
import type { MachineSources } from '../../collectors/sources'
import type { Clock } from '../../lib/clock'
import type { Random } from '../../lib/random'
import { RELEASE_VERSION } from '../../model/constants/versions'
import type { Master } from '../../rpc/luxi/master'

/** The programs' name in the jobs that they submit. */
export const PROGRAM_VERSION = `gantry ${RELEASE_VERSION}`

export interface Context {
  readonly clock: Clock
  readonly random: Random

  out(text: string): void
  err(text: string): void
  read(file: string): string
  write(file: string, text: string): void
  /** The master daemon at this socket, or this machine's. */
  connect(socket: string | undefined): Master
  /** The sources of collectors; without them, collectors only have the files that options name. */
  node?(): Promise<MachineSources & Pick<NodeSources, 'backEnd' | 'userSpace'>>
  /**
   * From now on an interruption does not end the program. It calls `tell`, and the returned function then returns true.
   */
  interruption(tell: () => void): () => boolean
}

/** Ends the program with this code, after these last words. */
export class Stop extends Error {
  constructor(
    readonly code: number,
    readonly out = '',
    readonly err = '',
  ) {
    super(err)
  }
}

export const failure = (text: string): Stop => new Stop(1, '', `Error: ${text}\n`)
