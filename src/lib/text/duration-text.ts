// Durations as people read them.

/** `1h 5m 3s`. */
export function durationText(duration_s: number): string {
  let left = Math.round(duration_s)
  const parts: string[] = []
  for (const [unit, length] of [
    ['d', 86400],
    ['h', 3600],
    ['m', 60],
  ] as const) {
    const whole = Math.floor(left / length)
    left %= length
    if (whole > 0 || parts.length > 0) parts.push(`${whole}${unit}`)
  }
  return [...parts, `${left}s`].join(' ')
}
