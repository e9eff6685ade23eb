// The arguments and the result of a role's start function.
import type { Log } from '../lib/log'
import type { SelfMetrics } from '../lib/self-metrics'
import type { Paths } from '../lib/paths'
import type { Options } from '../roles/options'

export interface Surroundings {
  readonly paths: Paths
  readonly log: Log
  readonly options: Options
}

/** A role that is ready. */
export interface Running {
  close(): Promise<void>
  /** On SIGHUP: reads certificates and users files again. */
  reload?(): void
  /** The role's own figures. mond asks for them regularly, so they must cost nothing. */
  tell?(): SelfMetrics
}

export type Start = (surroundings: Surroundings) => Promise<Running>

/** Tells a daemon to survive its parent. */
export const STAY = 'stay'
