// How often a collector looks. Ganeti's design of status reports names three things that this depends on; the first two are followed as
// they are seen, and the third is the administrator's.
import { COLLECTING_SHARE, PACE_FASTER, PACE_SLOWER, PACE_SPREAD } from '../model/limits/collectors'

export interface Pace {
  /** Seconds until the next look. */
  readonly interval_s: number
  /** Milliseconds that a look takes, on average over the last ones. */
  readonly cost_ms: number
}

/** How important it is that a report is fresh: the configuration's interval is the shortest, and a multiple of it the longest. */
export interface PaceBounds {
  readonly fastest_s: number
  readonly slowest_s: number
}

export const boundsOf = (configured_s: number): PaceBounds => ({
  fastest_s: configured_s,
  slowest_s: configured_s * PACE_SPREAD,
})

/** Before anything was seen: what the collector declares. */
export const firstPace = ({ interval_s, cost_ms }: Pace, bounds: PaceBounds): Pace =>
  within({ interval_s, cost_ms }, bounds)

export interface Look {
  readonly changed: boolean
  readonly took_ms: number
}

/** How often the value varies: a change makes the next look come sooner, its absence later. */
export function nextPace(pace: Pace, { changed, took_ms }: Look, bounds: PaceBounds): Pace {
  const interval_s = pace.interval_s * (changed ? PACE_FASTER : PACE_SLOWER)
  return within({ interval_s, cost_ms: (pace.cost_ms + took_ms) / 2 }, bounds)
}

/** How fast it is to query: a collector works for no more than a small share of the time, as far as the bounds allow. */
function within({ interval_s, cost_ms }: Pace, { fastest_s, slowest_s }: PaceBounds): Pace {
  const affordable_s = cost_ms / 1000 / COLLECTING_SHARE
  return { interval_s: Math.min(slowest_s, Math.max(fastest_s, interval_s, affordable_s)), cost_ms }
}
