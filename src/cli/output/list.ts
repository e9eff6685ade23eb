// `list` and `list-fields` for all kinds of objects.
import { pythonText } from '../../lib/text/python-text'
import { RESULT_STATUS, RESULT_STATUS_WORDS } from '../../model/constants/query'
import type { Cell, FieldDefinition, QueryFilter, QueryResource, QueryResult } from '../../rpc/luxi/calls'
import type { Call, Command } from '../command'
import { EXIT, refusal } from '../outcome'
import type { Terminal } from './terminal'
import { objects } from './data'
import { looksLikeFilter, namesFilter, parseFilterText } from '../input/filter-text'
import { type Units, formatTime, formatUnit } from './format'
import { type Column, formatTable } from './table'

export interface ListSettings {
  readonly what: QueryResource
  readonly nameField: string
  readonly defaults: readonly string[]
  /** How to show fields whose kind does not decide it. */
  readonly show?: Readonly<Record<string, (value: unknown, plain: boolean) => string>>
  /** Adds what people want to know beyond Ganeti's words. */
  readonly forPeople?: (call: Call, result: QueryResult) => Promise<QueryResult>
  /** Whether names are numbers: the ids of jobs. */
  readonly numeric?: boolean
  /** An additional condition, from the command's options. */
  readonly condition?: (call: Call) => QueryFilter
  /** Columns that the command's options add. */
  readonly more?: (call: Call) => readonly string[]
}

/** A `list` command: as a table, and as data. */
export const listCommand = (settings: ListSettings): Pick<Command, 'run' | 'data'> => ({
  run: (call) => showList(call, settings),
  data(call) {
    const output = call.options.text('output')
    const fields = output === undefined ? undefined : selectedFields(output, settings.defaults)
    return objects(call, { what: settings.what, fields, filter: filterOf(call, settings) })
  },
})

async function showList(call: Call, settings: ListSettings): Promise<number> {
  const fields = [...selectedFields(call.options.text('output'), settings.defaults), ...(settings.more?.(call) ?? [])]
  const found = await call.master.query(settings.what, fields, filterOf(call, settings))
  const result = call.plain ? ((await settings.forPeople?.(call, found)) ?? found) : found
  const unknown = warnOfUnknown(result.fields, call.terminal)
  for (const line of resultLines(call, settings, result)) call.terminal.out(line)
  return unknown ? EXIT.unknownField : EXIT.ok
}

/** A result as a table, according to the command's options. */
export function resultLines(call: Call, settings: Pick<ListSettings, 'show'>, result: QueryResult): string[] {
  const rows = result.data.map((row) => row.map((cell, at) => formatCell(cell, result.fields[at], call, settings)))
  const style = { headers: !call.options.flag('no_headers'), separator: call.options.text('separator') }
  return formatTable(result.fields.map(columnOf), rows, style)
}

export const listFieldsCommand = (what: QueryResource): Pick<Command, 'run' | 'data'> => ({
  run: (call) => showFields(call, what),
  data: async ({ master, args }) => (await master.queryFields(what, args.length === 0 ? null : args)).fields,
})

async function showFields({ master, args, options, terminal }: Call, what: QueryResource): Promise<number> {
  const { fields } = await master.queryFields(what, args.length === 0 ? null : args)
  const columns = ['Name', 'Type', 'Title', 'Description'].map((title) => ({ title, alignRight: false }))
  const unknown = warnOfUnknown(fields, terminal)
  const rows = fields.map(({ name, kind, title, doc }) => [name, KIND_TITLES[kind] ?? kind, title, doc])
  const separator = options.text('separator')
  for (const line of formatTable(columns, rows, { headers: !options.flag('no_headers'), separator })) terminal.out(line)
  return unknown ? EXIT.unknownField : EXIT.ok
}

/** Returns whether there are any. */
function warnOfUnknown(fields: readonly FieldDefinition[], terminal: Terminal): boolean {
  const unknown = fields.filter(({ kind }) => kind === 'unknown').map(({ name }) => name)
  if (unknown.length > 0) terminal.err(`Warning: Queried for unknown fields ${unknown.join(', ')}`)
  return unknown.length > 0
}

const KIND_TITLES: Readonly<Record<string, string>> = {
  unknown: 'Unknown',
  text: 'Text',
  bool: 'Boolean',
  number: 'Number',
  float: 'Floating-point number',
  unit: 'Storage size',
  timestamp: 'Timestamp',
  other: 'Custom',
}

/** `a,b` replaces the default columns, `+a,b` is added to them. */
export function selectedFields(output: string | undefined, defaults: readonly string[]): string[] {
  if (output === undefined) return [...defaults]
  return output.startsWith('+') ? [...defaults, ...output.slice(1).split(',')] : output.split(',')
}

function filterOf(call: Call, { nameField, numeric, condition }: ListSettings): QueryFilter {
  const { args, options } = call
  const more = condition?.(call) ?? null
  const [first] = args
  const isFilter = options.flag('force_filter')
  if (isFilter && args.length > 1) throw refusal('Exactly one argument must be given as a filter')
  const isText = first !== undefined && args.length === 1 && (isFilter || looksLikeFilter(first))
  const own = isText ? parseFilterText(first) : namesFilter(nameField, args, numeric)
  if (own === null || more === null) return own ?? more
  return ['&', more, own]
}

const RIGHT: readonly string[] = ['number', 'unit', 'float']

const columnOf = ({ title, kind }: FieldDefinition): Column => ({ title, alignRight: RIGHT.includes(kind) })

function formatCell(
  [status, value]: Cell,
  definition: FieldDefinition | undefined,
  { options, plain }: Call,
  { show }: Pick<ListSettings, 'show'>,
): string {
  if (status !== RESULT_STATUS.normal) {
    const [long, short] = RESULT_STATUS_WORDS[status] ?? ['(unknown)', '??']
    return options.flag('verbose') ? long : short
  }
  const own = definition && show?.[definition.name]
  if (own) return own(value, plain)
  switch (definition?.kind) {
    case 'bool':
      return value === true ? 'Y' : 'N'
    case 'unit':
      return formatUnit(Number(value), unitsOf(options.text('units'), options.text('separator')))
    case 'timestamp':
      return formatTime(value)
    default:
      return pythonText(value)
  }
}

const UNITS: readonly Units[] = ['h', 'm', 'g', 't']

/** Programs that parse separated columns get plain numbers. */
export function unitsOf(units: string | undefined, separator: string | undefined): Units {
  return UNITS.find((unit) => unit === units) ?? (separator === undefined ? 'h' : 'm')
}
