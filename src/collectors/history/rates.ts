// What was done per second, from counters as they were at two looks.

/** Undefined: it cannot be read. */
export type Counters<N extends string> = Readonly<Record<N, number | undefined>>

/**
 * Undefined where it is not known. A counter that is lower than before has begun anew at some time between, and what it had counted
 * until then is lost.
 */
export function ratesOf<N extends string>(
  before: Counters<N> | undefined,
  now: Counters<N>,
  elapsed_s: number,
): Partial<Record<N, number>> {
  if (before === undefined || elapsed_s <= 0) return {}
  const rates: Partial<Record<N, number>> = {}
  for (const name of Object.keys(now) as N[]) {
    const [from, to] = [before[name], now[name]]
    if (from !== undefined && to !== undefined && to >= from) rates[name] = (to - from) / elapsed_s
  }
  return rates
}
