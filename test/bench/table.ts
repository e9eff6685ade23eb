// Figures by name, in the order in which they were taken, and their table.
import type { Measured } from './measured'
import { mebibytes, milliseconds, rate, seconds } from './measured'

export type Unit = '/s' | 'ms' | 'KiB' | ''

export interface Figure {
  readonly value: number
  readonly unit: Unit
  readonly p50_ms?: number
  readonly p99_ms?: number
}

export type Figures = Record<string, Figure>
export type Report = (label: string, value: number, unit: Unit, times?: Measured) => void

export function reporterInto(figures: Figures, who: string): Report {
  return (label, value, unit, times) => {
    const figure = { value, unit, ...(times && { p50_ms: times.p50_ms, p99_ms: times.p99_ms }) }
    figures[label] = figure
    process.stderr.write(`  ${who}: ${label}: ${show(figure)}\n`)
  }
}

export function printTable(ours: Figures, theirs: Figures, theirTitle: string): void {
  const rows = Object.entries(ours).map(([label, figure]) => {
    const other = theirs[label] ?? theirs[label.replace(', kept', ', new connection each')]
    return [label, show(figure), other ? show(other) : '', other ? ratio(figure, other) : '']
  })
  for (const [label, figure] of Object.entries(theirs))
    if (ours[label] === undefined && figure.unit === 'KiB') rows.push([label, '', show(figure), ''])
  const all = [['', 'Gantry', theirTitle, 'better by'], ...rows]
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  for (const row of all)
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
}

function show({ value, unit, p50_ms, p99_ms }: Figure): string {
  const times =
    p50_ms === undefined || p99_ms === undefined ? '' : `p50 ${milliseconds(p50_ms)}, p99 ${milliseconds(p99_ms)}`
  if (unit === '/s') return `${rate(value)}${times && ` (${times})`}`
  if (unit === 'KiB') return mebibytes(value)
  if (unit === '') return String(value)
  return value >= 1000
    ? seconds(value)
    : `${milliseconds(value)}${p99_ms === undefined ? '' : ` (p99 ${milliseconds(p99_ms)})`}`
}

function ratio(ours: Figure, theirs: Figure): string {
  if (ours.unit === '') return ''
  const factor = ours.unit === '/s' ? ours.value / theirs.value : theirs.value / ours.value
  return Number.isFinite(factor) ? `${Number(factor.toPrecision(3))} x` : ''
}
