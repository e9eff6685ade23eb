// A watcher run's report about a node group. The run sends it to the master, which shows it.
import { listOf, orNull } from '../../lib/shapes/containers'
import { float, int, text } from '../../lib/shapes/leaves'
import { objectOf, optional } from '../../lib/shapes/objects'
import type { ValueOf } from '../../lib/shapes/shape'

const shape = <const F extends Parameters<typeof objectOf>[0]>(fields: F) => objectOf(fields, { others: 'dropped' })
const names = listOf(text)

export const watcherReport = shape({
  /** The group's uuid and name. */
  group: text,
  name: text,
  /** Who looked: `watcher` or `maintd`. The watchers of older versions do not say it. */
  by: optional(text),
  /** Why it ran: at its regular time, because a node returned, or because somebody called it. */
  why: text,
  /** Seconds since the epoch. */
  started: float,
  ended: float,
  /** Names of instances. */
  restarted: names,
  cleanedUp: names,
  activated: names,
  gaveUp: names,
  /** Instances with a problem that it did not touch. */
  left: listOf(shape({ name: text, why: text })),
  failed: listOf(shape({ name: text, job: orNull(int), why: text })),
  /** Why it did not finish. */
  error: orNull(text),
})

export type WatcherReport = ValueOf<typeof watcherReport>

export interface WatcherInfo {
  /** Seconds since the epoch. */
  readonly paused_until: number | null
  /** The time of the next regular run; null if there was none yet. */
  readonly next_run: number | null
  /** The last run for each node group. */
  readonly groups: readonly WatcherReport[]
}
