// The figures of one measurement, and how they are printed.

export interface Measured {
  readonly count: number
  readonly perSecond: number
  readonly p50_ms: number
  readonly p99_ms: number
}

/** From the time that each took, and the time that all took together. */
export function measured(times_ms: number[], total_ms: number): Measured {
  const sorted = [...times_ms].sort((a, b) => a - b)
  const at = (part: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
  return { count: times_ms.length, perSecond: (times_ms.length / total_ms) * 1000, p50_ms: at(0.5), p99_ms: at(0.99) }
}

export const rate = (value: number): string => `${number(value)}/s`
export const milliseconds = (value: number): string => (value < 10_000 ? `${number(value)} ms` : seconds(value))
export const seconds = (value_ms: number): string => `${number(value_ms / 1000)} s`
export const mebibytes = (value_kib: number): string => `${number(value_kib / 1024)} MiB`
export const withTimes = ({ perSecond, p50_ms, p99_ms }: Measured): string =>
  `${rate(perSecond)}  p50 ${milliseconds(p50_ms)}  p99 ${milliseconds(p99_ms)}`

/** Three significant digits are more than such measurements are good for. */
function number(value: number): string {
  if (!Number.isFinite(value)) return '-'
  if (value >= 1000) return Math.round(value).toLocaleString('en-US')
  return String(Number(value.toPrecision(3)))
}
