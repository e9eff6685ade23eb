// How often a collector runs. Ganeti's design of status reports names three factors. The first two are measured; the
// administrator decides the third. Health is read as often as configured: a fault must not wait because the last looks found none.
import type { Collector } from './report'
import { COLLECTING_SHARE, PACE_FASTER, PACE_SLOWER, PACE_SPREAD } from '../model/limits/collectors'

export interface Schedule {
  /** Seconds until the next look. */
  readonly interval_s: number
  /** Average milliseconds of the last looks. */
  readonly cost_ms: number
}

/** How important fresh reports are: the configured interval is the shortest one; for figures, a multiple of it the longest. */
export interface ScheduleBounds {
  readonly fastest_s: number
  readonly slowest_s: number
}

export const boundsOf = (configured_s: number, kind: Collector['kind']): ScheduleBounds => ({
  fastest_s: configured_s,
  slowest_s: kind === 'status' ? configured_s : configured_s * PACE_SPREAD,
})

/** Before the first look: the collector's own declaration. */
export const firstSchedule = ({ interval_s, cost_ms }: Schedule, bounds: ScheduleBounds): Schedule =>
  within({ interval_s, cost_ms }, bounds)

export interface Sample {
  readonly changed: boolean
  readonly took_ms: number
}

/** How often the value varies: after a change the next look comes sooner, without one later. */
export function nextSchedule(pace: Schedule, { changed, took_ms }: Sample, bounds: ScheduleBounds): Schedule {
  const interval_s = pace.interval_s * (changed ? PACE_FASTER : PACE_SLOWER)
  return within({ interval_s, cost_ms: (pace.cost_ms + took_ms) / 2 }, bounds)
}

/** How expensive a look is: within the bounds, a collector works only a small share of the time. */
function within({ interval_s, cost_ms }: Schedule, { fastest_s, slowest_s }: ScheduleBounds): Schedule {
  const affordable_s = cost_ms / 1000 / COLLECTING_SHARE
  return { interval_s: Math.min(slowest_s, Math.max(fastest_s, interval_s, affordable_s)), cost_ms }
}
