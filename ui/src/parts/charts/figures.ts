// The data of a chart, and the same in words.
import { byteText } from '../../format/size'
import { clockText } from '../../format/time'
import { texts } from '../../texts'

export type Column = readonly (number | null)[]

/** Processors and loads are numbers, memory is bytes, and traffic is bytes per second. */
export type Unit = 'number' | 'bytes' | 'rate'

export interface Line {
  readonly label: string
  readonly values: Column
}

export interface Figures {
  readonly title: string
  readonly unit: Unit
  readonly lines: readonly Line[]
}

export interface Measured {
  /** Seconds between two measurements. */
  readonly interval_s: number
  readonly times: readonly string[]
}

type Traffic = Readonly<
  Record<'disk_read_bytes_per_s' | 'disk_write_bytes_per_s' | 'net_in_bytes_per_s' | 'net_out_bytes_per_s', Column>
>

/** Traffic of disks and of the network, which nodes and instances share. */
export function trafficOf(data: Traffic): Figures[] {
  const own = texts.metrics
  return [
    {
      ...{ title: own.disks, unit: 'rate' },
      lines: [
        { label: own.read, values: data.disk_read_bytes_per_s },
        { label: own.written, values: data.disk_write_bytes_per_s },
      ],
    },
    {
      ...{ title: own.network, unit: 'rate' },
      lines: [
        { label: own.received, values: data.net_in_bytes_per_s },
        { label: own.sent, values: data.net_out_bytes_per_s },
      ],
    },
  ]
}

const ALSO_LATE = 2.5

/** Seconds and values for a plot, with a gap wherever a measurement is missing. */
export function plotted({ interval_s, times }: Measured, lines: readonly Line[]): (number | null)[][] {
  const seconds = times.map((time) => Date.parse(time) / 1000)
  const gaps = new Set(
    seconds.flatMap((time, at) => (time - (seconds[at - 1] ?? time) > ALSO_LATE * interval_s ? [at] : [])),
  )
  const spread = (column: Column, empty: (at: number) => number | null) =>
    column.flatMap((value, at) => (gaps.has(at) ? [empty(at), value] : [value]))
  return [
    spread(seconds, (at) => (seconds[at - 1] ?? 0) + interval_s),
    ...lines.map(({ values }) => spread(values, () => null)),
  ]
}

export function valueText(unit: Unit, value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  if (unit === 'number') return value.toFixed(2)
  return unit === 'bytes' ? byteText(value) : texts.metrics.perSecond(byteText(value))
}

/** For readers who do not see the plot: the last value, the mean and the maximum of each line. */
export function inWords({ times }: Measured, { unit, lines }: Figures): readonly string[] {
  const { none, summary } = texts.metrics
  return lines.map(({ label, values }) => {
    const known = values.flatMap((value, at) => (value === null ? [] : [{ value, at }]))
    const [last, first] = [known.at(-1), known[0]]
    if (first === undefined || last === undefined) return none(label)
    const highest = known.reduce((most, one) => (one.value > most.value ? one : most), first)
    const mean = known.reduce((sum, { value }) => sum + value, 0) / known.length
    const displayed = (value: number) => valueText(unit, value)
    return summary(
      label,
      displayed(last.value),
      displayed(mean),
      displayed(highest.value),
      clockText(times[highest.at]),
    )
  })
}
