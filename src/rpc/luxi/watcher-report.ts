// What a run of the watcher for a node group has done. The run tells the master, which shows it to people.
import { listOf, orNull } from '../../lib/shapes/containers'
import { float, int, text } from '../../lib/shapes/leaves'
import { objectOf } from '../../lib/shapes/objects'
import type { ValueOf } from '../../lib/shapes/shape'

const shape = <const F extends Parameters<typeof objectOf>[0]>(fields: F) => objectOf(fields, { others: 'dropped' })
const names = listOf(text)

export const watcherReport = shape({
  /** The group's uuid and name. */
  group: text,
  name: text,
  /** Why it ran: its time had come, a node had returned, somebody called it. */
  why: text,
  /** Seconds since the epoch. */
  started: float,
  ended: float,
  /** Names of instances. */
  restarted: names,
  cleanedUp: names,
  activated: names,
  gaveUp: names,
  /** Instances that it has left as they are although something is wrong with them. */
  left: listOf(shape({ name: text, why: text })),
  failed: listOf(shape({ name: text, job: orNull(int), why: text })),
  /** Why it did not get to its end. */
  error: orNull(text),
})

export type WatcherReport = ValueOf<typeof watcherReport>

export interface WatcherInfo {
  /** Seconds since the epoch. */
  readonly paused_until: number | null
  /** When the next run is due that nothing calls for; null when there was none yet. */
  readonly next_run: number | null
  /** The last run for each node group. */
  readonly groups: readonly WatcherReport[]
}
