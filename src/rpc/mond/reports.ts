// Parses the reports of a node. The node may run another version, or send nonsense. Anything but a list of reports is
// refused, with the wrong field. Only parts that we understand become a status or a figure.
import { hasMoreValues, isDeeper } from '../../lib/text/json-depth'
import { listOf, orNull } from '../../lib/shapes/containers'
import { float, int, json, oneOf, string } from '../../lib/shapes/leaves'
import { objectOf } from '../../lib/shapes/objects'
import { isObject, Mismatch, type ValueOf } from '../../lib/shapes/shape'
import { plainly } from '../../lib/shapes/words'
import { startOf } from '../../lib/text/short-text'
import { NOT_RUN } from '../../model/constants/collectors'
import {
  MOND_DEPTH_MAX,
  MOND_REPORTS_MAX,
  MOND_VALUES_MAX,
  REPORT_NAME_CHARS_MAX,
  STATUS_CHARS_SHOWN,
} from '../../model/limits/monitoring'
import type { FullestStorage, MonitoringFigures } from '../../model/monitoring'
import { MondFailure } from './client'

const report = objectOf(
  {
    ...{ name: string, version: string, format_version: int, timestamp: float, category: orNull(string) },
    ...{ kind: oneOf('kind', [0, 1]), data: json },
  },
  { others: 'kept' },
)
const reports = listOf(report)
type Report = ValueOf<typeof report>

export interface ReadReport {
  readonly name: string
  readonly category: string | null
  /** Undefined if it has none. */
  readonly status: { readonly code: number; readonly message: string } | undefined
  /** The whole report as JSON. */
  readonly text: string
}

export interface ReadReports {
  readonly reports: readonly ReadReport[]
  readonly figures: MonitoringFigures
  /** When the oldest figure was measured, by the node's clock; undefined without figures. */
  readonly oldest_ms: number | undefined
  /** When the newest report was made; undefined without reports. */
  readonly newest_ms: number | undefined
}

/** Throws a MondFailure that names the mistake. */
export function readReports(text: string): ReadReports {
  const reported = checked(text)
  const named = (name: string) => reported.find((one) => one.name === name)
  const sources = ['system', 'cpu-avg-load', 'storage'].flatMap((name) => named(name)?.timestamp ?? [])
  return {
    reports: reported.map((one) => {
      const { name, category } = one
      return { name, category, status: statusOf(one), text: JSON.stringify(one) }
    }),
    figures: figuresOf(named),
    oldest_ms: sources.length === 0 ? undefined : Math.min(...sources) / 1e6,
    newest_ms: reported.length === 0 ? undefined : Math.max(...reported.map(({ timestamp }) => timestamp)) / 1e6,
  }
}

function checked(text: string): readonly Report[] {
  if (hasMoreValues(text, MOND_VALUES_MAX)) throw bad(`its answer has more than ${MOND_VALUES_MAX} values`)
  const reported = parsed(text)
  if (isDeeper(reported, MOND_DEPTH_MAX)) throw bad(`its answer is nested deeper than ${MOND_DEPTH_MAX} levels`)
  if (Array.isArray(reported) && reported.length > MOND_REPORTS_MAX)
    throw bad(`it tells ${reported.length} reports, more than ${MOND_REPORTS_MAX}`)
  try {
    const read = reports.parse(reported)
    const long = read.find(({ name, category }) => Math.max(name.length, category?.length ?? 0) > REPORT_NAME_CHARS_MAX)
    if (long === undefined) return read
  } catch (error) {
    throw error instanceof Mismatch
      ? bad(`its answer is no list of reports: ${plainly(error, { found: true })}`)
      : error
  }
  throw bad(`the name of a report is longer than ${REPORT_NAME_CHARS_MAX} characters`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw bad(`its answer is not JSON: ${JSON.stringify(startOf(text, 40))}`)
  }
}

const bad = (text: string): MondFailure => new MondFailure('bad', text)

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isObject(value) ? value : {})

const CODES: readonly unknown[] = [0, 1, 2, 4]

function statusOf({ kind, data }: Report): ReadReport['status'] {
  const { status, error, details } = fieldsOf(data)
  const { code, message } = fieldsOf(status)
  if (CODES.includes(code)) return { code: Number(code), message: displayed(message) }
  if (typeof error === 'string') return { code: 2, message: displayed(error) }
  // The status of the collector `diagnose` is a word, printed by the program that it starts.
  if (typeof status === 'string') return status === 'Ok' ? { code: 0, message: '' } : verdict(status, details)
  return kind === 1 ? { code: 2, message: 'its report has no status that is known' } : undefined
}

const verdict = (status: string, details: unknown) => ({
  code: status === 'live-repair' ? 1 : status === NOT_RUN ? 2 : 4,
  message: displayed(typeof details === 'string' ? `${status}: ${details}` : status),
})

/** In one line. A collector has a line for each thing that it complains about. */
function displayed(text: unknown): string {
  const lines = typeof text === 'string' ? text.split('\n').map((line) => line.replace(/\s+/g, ' ').trim()) : []
  return startOf(lines.filter((line) => line !== '').join('; '), STATUS_CHARS_SHOWN)
}

function figuresOf(named: (name: string) => Report | undefined): MonitoringFigures {
  const system = fieldsOf(named('system')?.data)
  const load = fieldsOf(named('cpu-avg-load')?.data)
  const { load: averages, number } = fieldsOf(system['cpus'])
  const { total, available, free } = fieldsOf(system['memory'])
  return {
    load: Array.isArray(averages) ? figure(averages[0]) : null,
    cpu_load: figure(load['cpu_total']),
    cpus: figure(number) ?? figure(load['cpu_number']),
    memory_total_bytes: figure(total),
    memory_free_bytes: figure(available) ?? figure(free),
    storage: fullest(fieldsOf(named('storage')?.data)['storages']),
  }
}

const figure = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : null

function fullest(reported: unknown): FullestStorage | null {
  const all: readonly unknown[] = Array.isArray(reported) ? reported : []
  const measured = all.map(fieldsOf).flatMap(({ name, ...room }) => {
    const [size_bytes, free_bytes] = [figure(room['size_bytes']), figure(room['free_bytes'])]
    if (typeof name !== 'string' || size_bytes === null || free_bytes === null || size_bytes === 0) return []
    return [{ name: displayed(name), size_bytes, free_bytes }]
  })
  const shareOf = (one: FullestStorage) => one.free_bytes / one.size_bytes
  return measured.reduce<FullestStorage | null>(
    (least, one) => (least === null || shareOf(one) < shareOf(least) ? one : least),
    null,
  )
}
