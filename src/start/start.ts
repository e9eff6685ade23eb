// The arguments and the result of a role's start function.
import type { Log } from '../lib/log'
import type { OwnFigures } from '../lib/own-figures'
import type { Paths } from '../lib/paths'
import type { Options } from '../roles/options'

export interface Surroundings {
  readonly paths: Paths
  readonly log: Log
  readonly options: Options
}

/** A role that can be used. */
export interface Running {
  close(): Promise<void>
  /** On SIGHUP: certificates and files of users are read again. */
  reload?(): void
  /** Figures that only it knows; mond asks for them again and again, so they have to cost nothing. */
  tell?(): OwnFigures
}

export type Start = (surroundings: Surroundings) => Promise<Running>

/** The word by which a daemon learns that it outlives whoever started it. */
export const STAY = 'stay'
