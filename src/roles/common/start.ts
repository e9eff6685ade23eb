// What all roles are started with, and what they are while they run.
import * as path from 'node:path'
import type { Log } from '../../lib/log'
import type { Paths } from '../../lib/paths'
import type { Options } from './options'

/** The program that plays all roles, to be started for another one; from src/ and from dist/ alike. */
export const PROGRAM = path.join(__dirname, '../../../bin/gantryd.js')

/** As `ps` shows it. */
export const titleOf = (role: string, { root, hostname }: Paths): string =>
  `ganeti-${role}${root === '' ? '' : ` ${hostname}`}`

/** A running role. */
export interface Running {
  close(): Promise<void>
  reload?(): void
  /** Told to whoever started the process, with the news that it is ready. */
  details?: unknown
}

export interface Start {
  paths: Paths
  log: Log
  options: Options
}
