// Prints the output of commands as data for programs: JSON, YAML or CSV, with the names, nesting and times of /3.
import { stampText } from '../../lib/text/rfc3339'
import { RESULT_STATUS } from '../../model/constants/query'
import { ALL_JOB_PARTS, type JobPart, jobFields, jobOf } from '../../query/job-shape'
import type { Cell, FieldDefinition, QueryFilter, QueryResource } from '../../rpc/luxi/calls'
import type { Call } from '../command'
import { CommandFailure, EXIT } from '../outcome'
import type { Option } from '../input/option'
import { flag, value } from '../input/option'
import type { OptionValues } from '../input/option-values'
import { isObject } from '../../lib/shapes/shape'

const FORMATS = ['json', 'yaml', 'csv'] as const
export type DataFormat = (typeof FORMATS)[number]

/** The options of every command that shows objects. */
export const DATA_OPTIONS: readonly Option[] = [
  flag('--json', 'json', 'print JSON, of the shape that /3 of the remote API has', { own: true }),
  value('--output-format', 'output_format', 'choice', 'print data for programs: json, yaml or csv', {
    ...{ own: true, choices: FORMATS, metavar: FORMATS.join('|') },
  }),
]

export function dataFormat(options: OptionValues): DataFormat | undefined {
  const named = options.text('output_format')
  return FORMATS.find((format) => format === named) ?? (options.flag('json') ? 'json' : undefined)
}

export async function printData({ options, terminal }: Call, data: unknown, format: DataFormat): Promise<void> {
  switch (format) {
    case 'json':
      return terminal.out(JSON.stringify(data, null, 2))
    case 'yaml':
      return terminal.out((await import('yaml')).stringify(data).trimEnd())
    case 'csv':
      for (const line of csvLines(data, !options.flag('no_headers'))) terminal.out(line)
  }
}

/** Whether the caller wants data, which then are printed: for commands whose answer decides their exit code, or that do more. */
export async function asData(call: Call, answer: unknown): Promise<boolean> {
  const format = dataFormat(call.options)
  if (format !== undefined) await printData(call, answer, format)
  return format !== undefined
}

/** Prints one line for each object. Nested values are JSON in their cell. */
function csvLines(data: unknown, headers: boolean): string[] {
  const rows = (Array.isArray(data) ? data : [data]).map((row: unknown) => (isObject(row) ? row : { value: row }))
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const lines = rows.map((row) => columns.map((name) => csvCell(row[name])).join(','))
  return headers && columns.length > 0 ? [columns.map(csvCell).join(','), ...lines] : lines
}

function csvCell(value: unknown): string {
  if (value === null || value === undefined) return ''
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

interface Wanted {
  readonly what: QueryResource
  /** Default: those that /3 shows. */
  readonly fields?: readonly string[] | undefined
  readonly filter: QueryFilter
  /** More of the opcodes of jobs. */
  readonly parts?: readonly JobPart[]
}

export async function objects(call: Call, desired: Wanted): Promise<Record<string, unknown>[]> {
  const { what, filter, parts = [] } = desired
  const isJob = what === 'job' && desired.fields === undefined
  const requested = desired.fields ?? (isJob ? jobFields(parts) : await shownFields(what))
  const { fields, data } = await call.master.query(what, requested, filter)
  const unknown = fields.filter(({ kind }) => kind === 'unknown').map(({ name }) => name)
  // Only /3 knows how old is what nodes said last; here they are asked.
  if (desired.fields !== undefined && unknown.length > 0)
    throw new CommandFailure(`There are no fields ${unknown.join(', ')}`, EXIT.unknownField)
  return data.map((row) => {
    const known = fields.flatMap((field, at) =>
      field.kind === 'unknown' ? [] : [[field.name, displayed(field, row[at])] as const],
    )
    const found = Object.fromEntries(known)
    return isJob && found['status'] !== null ? { ...jobOf(found, parts) } : found
  })
}

function displayed({ kind }: FieldDefinition, [status, value]: Cell = [RESULT_STATUS.noData, null]): unknown {
  if (status !== RESULT_STATUS.normal) return null
  return kind === 'timestamp' ? stampText(value) : value
}

async function shownFields(what: QueryResource): Promise<readonly string[]> {
  const views = await import('../../generated/resource-views.js')
  const fields: Partial<Record<QueryResource, readonly string[]>> = {
    ...{ instance: views.INSTANCE_VIEW, node: views.NODE_VIEW, group: views.GROUP_VIEW, network: views.NETWORK_VIEW },
    ...{ os: views.OS_VIEW, filter: views.FILTER_VIEW, lock: views.LOCK_VIEW, export: views.EXPORT_VIEW },
  }
  return fields[what] ?? []
}

/** The objects that the arguments name, or all; one that is not there is a failure. */
export const infoData =
  (what: QueryResource, key: string) =>
  async (call: Call): Promise<unknown> => {
    const names = [...new Set(call.args)]
    const filter = names.length === 0 ? null : ['|', ...names.map((name) => ['==', key, keyOf(what, name)])]
    const found = await objects(call, { what, filter, parts: ALL_JOB_PARTS })
    const there = found.filter((one) => what !== 'job' || one['status'] !== null)
    const missing = names.filter((name) => !there.some((one) => isNamed(String(one[key]), name)))
    if (there.length < names.length) throw new CommandFailure(`${what} ${missing.join(', ')} not found`)
    return there
  }

/** Whether a name means an object, also without its domain. */
export const isNamed = (whole: string, name: string): boolean => whole === name || whole.startsWith(`${name}.`)

function keyOf(what: QueryResource, name: string): string | number {
  if (what !== 'job') return name
  if (/^\d+$/.test(name)) return Number(name)
  throw new CommandFailure(`'${name}' is not the number of a job; gnt-job list shows the jobs`)
}
