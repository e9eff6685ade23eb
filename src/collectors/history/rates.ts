// Rates per second, from counters at two looks.

/** Undefined if unreadable. */
export type Counters<N extends string> = Readonly<Record<N, number | undefined>>

/** Undefined if unknown. A counter that has decreased began again meanwhile; its earlier count is lost. */
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
