/** Converts seconds since the epoch to RFC 3339: in UTC, always with microseconds, so that texts sort like times. */
export function timeText(time_s: number): string {
  const [whole_s, micro] = [Math.floor(time_s), Math.round((time_s - Math.floor(time_s)) * 1e6)]
  const second = new Date((whole_s + Math.floor(micro / 1e6)) * 1000).toISOString().slice(0, -'.000Z'.length)
  return `${second}.${String(micro % 1e6).padStart(6, '0')}Z`
}

/** Seconds since the epoch; undefined if the text is no time with an offset from UTC. */
export function timeOf(text: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/.test(text)) return undefined
  const time_ms = Date.parse(text)
  return Number.isNaN(time_ms) ? undefined : time_ms / 1000
}

/** The time stamp of an object; an object without one has 0. */
export const stampText = (value: unknown): string | null =>
  typeof value === 'number' && value > 0 ? timeText(value) : null
