// The query language: `[operator, operands...]` from the wire, checked once and then compiled for a table.
import { GenericError, ParameterError, QueryFilterParseError } from '../model/errors'
import { FILTER_DEPTH_MAX, FILTER_CONDITIONS_MAX } from '../model/limits/queries'
import { compileRegex } from './regex'
import type { Pattern } from '../lib/text/regex'
import { pretty } from './pretty'

export type FilterValue = string | number
type Ordering = '<' | '>' | '<=' | '>='

export type Filter =
  | { readonly op: 'none' }
  | { readonly op: '&' | '|'; readonly filters: readonly Filter[] }
  | { readonly op: '!'; readonly filter: Filter }
  | { readonly op: '?'; readonly field: string }
  | { readonly op: '==' | '=[]' | Ordering; readonly field: string; readonly value: FilterValue }
  | { readonly op: '=~'; readonly field: string; readonly regex: Pattern; readonly source: string }

/** Parses a filter; throws QueryFilterParseError that names the wrong part. */
export function parseFilter(json: unknown, depth = 0): Filter {
  if (json === null || json === undefined) return { op: 'none' }
  if (depth > FILTER_DEPTH_MAX) throw new QueryFilterParseError(`Filter is nested deeper than ${FILTER_DEPTH_MAX}`)
  if (!Array.isArray(json) || typeof json[0] !== 'string')
    throw new QueryFilterParseError(`Cannot deserialise filter: expected array [string, args], got ${pretty(json)}`)
  const op = json[0]
  const args: unknown[] = json.slice(1)
  switch (op) {
    case '&':
    case '|':
      return { op, filters: args.map((arg) => parseFilter(arg, depth + 1)) }
    case '!':
      return { op, filter: parseFilter(single('filter', args), depth + 1) }
    case '?':
      return { op, field: readText(single('fieldname', args)) }
    case '=':
    case '==':
      return { op: '==', ...comparison(args) }
    case '!=':
      return { op: '!', filter: { op: '==', ...comparison(args) } }
    case '<':
    case '>':
    case '<=':
    case '>=':
    case '=[]':
      return { op, ...comparison(args) }
    case '=~':
      return regexFilter(args)
    default:
      throw new QueryFilterParseError(`Unknown filter operand '${op}'`)
  }
}

/** Writes the filter in the normal spelling, which has no `=` and no `!=`. */
export function serializeFilter(filter: Filter): unknown {
  switch (filter.op) {
    case 'none':
      return null
    case '&':
    case '|':
      return [filter.op, ...filter.filters.map(serializeFilter)]
    case '!':
      return ['!', serializeFilter(filter.filter)]
    case '?':
      return ['?', filter.field]
    case '=~':
      return ['=~', filter.field, filter.source]
    default:
      return [filter.op, filter.field, filter.value]
  }
}

/** Throws if the filter has so many conditions that testing them for each object would take too long. */
export function refuseWide(filter: Filter): void {
  const count = conditionsIn(filter)
  if (count <= FILTER_CONDITIONS_MAX) return
  throw new QueryFilterParseError(
    `Filter has ${count} conditions, more than ${FILTER_CONDITIONS_MAX}; ask in several requests, or with a pattern (=~)`,
  )
}

function conditionsIn(filter: Filter): number {
  if ('filters' in filter) return filter.filters.reduce((sum, part) => sum + conditionsIn(part), 1)
  return 'filter' in filter ? 1 + conditionsIn(filter.filter) : 1
}

/** The requested names if the filter only selects names; null if everything must be checked. */
export function requestedNames(filter: Filter, nameField: string): FilterValue[] | null {
  if (filter.op === '==' && filter.field === nameField) return [filter.value]
  if (filter.op !== '|') return null
  const names: FilterValue[] = []
  for (const part of filter.filters) {
    const more = requestedNames(part, nameField)
    if (more === null) return null
    for (const name of more) names.push(name)
  }
  return names.length === 0 ? null : names
}

/** The names of the fields a filter looks at. */
export function* filterFields(filter: Filter): Generator<string> {
  if ('field' in filter) yield filter.field
  if ('filter' in filter) yield* filterFields(filter.filter)
  if ('filters' in filter) for (const part of filter.filters) yield* filterFields(part)
}

function single(what: string, args: readonly unknown[]): unknown {
  if (args.length === 1) return args[0]
  throw new QueryFilterParseError(`Cannot deserialise field, expected [${what}] but got ${pretty(args)}`)
}

/** Reads a text as Haskell does, where a text is a list of characters. */
function readText(value: unknown): string {
  if (typeof value === 'string') return value
  throw new QueryFilterParseError(Array.isArray(value) ? 'Unable to read Char' : 'Unable to read String')
}

function pair(args: readonly unknown[]): [field: string, value: unknown] {
  if (args.length === 2) return [readText(args[0]), args[1]]
  throw new QueryFilterParseError(
    `Cannot deserialise field/value pair, expected [fieldname, value] but got ${pretty(args)}`,
  )
}

function comparison(args: readonly unknown[]): { field: string; value: FilterValue } {
  const [field, value] = pair(args)
  if (typeof value === 'string') return { field, value }
  if (typeof value !== 'number')
    throw new QueryFilterParseError(
      `Cannot deserialise filter value, expecting string or integer, got ${pretty(value)}`,
    )
  if (Number.isInteger(value)) return { field, value }
  throw new QueryFilterParseError(
    `Cannot deserialise numeric filter value, expecting integral but got a fractional value: ${ratio(value)}`,
  )
}

/** A double as an exact fraction in Ganeti's notation: 1.5 is `3 % 2`. */
function ratio(value: number): string {
  let denominator = 1n
  while (!Number.isInteger(value)) {
    value *= 2
    denominator *= 2n
  }
  return `${BigInt(value)} % ${denominator}`
}

function regexFilter(args: readonly unknown[]): Filter {
  const [field, input] = pair(args)
  const source = readText(input)
  return { op: '=~', field, source, regex: compileRegex(source) }
}

/** true, false, or undefined while the deciding data is missing. */
export type Verdict = boolean | undefined

/** A field's value for the filter: `missing` if its status is not normal, `pending` before live data. */
export type Operand = { state: 'value'; value: unknown } | { state: 'missing' } | { state: 'pending' }

export interface FilterField<Row> {
  readonly compare: 'plain' | 'host' | 'seconds'
  read(row: Row): Operand
}

/** Binds a filter to a table. Throws ParameterError for a field that the table lacks. */
export function compileFilter<Row>(
  filter: Filter,
  lookUp: (name: string) => FilterField<Row> | undefined,
): (row: Row) => Verdict {
  switch (filter.op) {
    case 'none':
      return () => true
    case '&':
    case '|': {
      const parts = filter.filters.map((part) => compileFilter(part, lookUp))
      const decisive = filter.op === '|'
      return (row) => combine(parts, row, decisive)
    }
    case '!': {
      const part = compileFilter(filter.filter, lookUp)
      return (row) => negate(part(row))
    }
    default: {
      const field = lookUp(filter.field)
      if (field === undefined) throw new ParameterError(`Can't find field named '${filter.field}'`)
      return compileLeaf(filter, field)
    }
  }
}

function combine<Row>(parts: readonly ((row: Row) => Verdict)[], row: Row, decisive: boolean): Verdict {
  let open = false
  for (const part of parts) {
    const verdict = part(row)
    if (verdict === decisive) return decisive
    if (verdict === undefined) open = true
  }
  return open ? undefined : !decisive
}

const negate = (verdict: Verdict): Verdict => (verdict === undefined ? undefined : !verdict)

type Leaf = Exclude<Filter, { op: 'none' | '&' | '|' | '!' }>

function compileLeaf<Row>(leaf: Leaf, field: FilterField<Row>): (row: Row) => Verdict {
  const test = leafTest(leaf, field.compare)
  return (row) => {
    const operand = field.read(row)
    if (operand.state === 'pending') return undefined
    // An unknown value cannot exclude a row.
    if (operand.state === 'missing') return true
    const { value } = operand
    return test(field.compare === 'seconds' && Array.isArray(value) ? (value[0] as unknown) : value)
  }
}

function leafTest(leaf: Leaf, compare: FilterField<never>['compare']): (value: unknown) => boolean {
  switch (leaf.op) {
    case '?':
      return (value) => {
        if (typeof value === 'boolean') return value
        throw new ParameterError(`Unexpected value '${pretty(value)}' in boolean context`)
      }
    case '=~':
      return (value) => {
        if (typeof value === 'string') return leaf.regex.test(value)
        throw new ParameterError(
          `Invalid field value used in regexp matching, expecting string but got '${pretty(value)}'`,
        )
      }
    case '=[]':
      return (value) => contains(value, leaf.value)
    case '==':
      if (compare === 'host') return (value) => matchesHost(sameType(value, leaf.value), leaf.value)
      return (value) => sameType(value, leaf.value) === leaf.value
    case '<':
      return (value) => sameType(value, leaf.value) < leaf.value
    case '>':
      return (value) => sameType(value, leaf.value) > leaf.value
    case '<=':
      return (value) => sameType(value, leaf.value) <= leaf.value
    case '>=':
      return (value) => sameType(value, leaf.value) >= leaf.value
  }
}

function contains(list: unknown, desired: FilterValue): boolean {
  const wrong = (what: string) =>
    new GenericError(`Cannot convert value '${pretty(list)}', error: Unable to read ${what}`)
  if (!Array.isArray(list)) throw wrong('list')
  const odd: unknown = list.find((entry) => typeof entry !== typeof desired)
  if (odd === undefined) return list.includes(desired)
  if (typeof desired === 'number') throw wrong('Integer')
  throw wrong(Array.isArray(odd) ? 'Char' : 'String')
}

function sameType(value: unknown, desired: FilterValue): FilterValue {
  if (typeof value === 'string' && typeof desired === 'string') return value
  if (typeof value === 'number' && typeof desired === 'number') return value
  const displayed =
    typeof desired === 'string'
      ? `QuotedString ${JSON.stringify(desired)}`
      : `NumericValue ${desired < 0 ? `(${desired})` : desired}`
  throw new ParameterError(`Invalid types in comparison, trying to compare ${pretty(value)} with '${displayed}'`)
}

function matchesHost(value: FilterValue, desired: FilterValue): boolean {
  return value === desired || String(value).startsWith(`${desired}.`)
}
