// Arguments that several LUXI calls share, and their parsing.
import { listOf, orNull, readArray } from '../../lib/shapes/containers'
import { int, nonNegative, text } from '../../lib/shapes/leaves'
import { Mismatch, type Shape } from '../../lib/shapes/shape'
import { parseOpcode, reasonTrail } from '../../opcodes/parse'
import { isFilterAction } from '../../model/filter-rule'
import type { QueryResource, WireOpCode } from './calls'
import { layout } from './layout'

/** The opcodes of a job. */
export const opcodes: Shape<WireOpCode[]> = {
  schema: {},
  parse: (value) => readArray(value).map((op) => parseOpcode(op)),
}

/** External storage providers can be queried only in jobs. */
const RESOURCES = [
  'cluster',
  'export',
  'filter',
  'group',
  'instance',
  'job',
  'lock',
  'network',
  'node',
  'os',
] as const satisfies readonly QueryResource[]

/** External storage providers are queried by opcode only; Ganeti's calls have no word for them. */
export const resource: Shape<QueryResource> = {
  schema: { type: 'string', enum: RESOURCES },
  parse(value) {
    if (typeof value !== 'string') throw new Mismatch(`Invalid value '${layout(value)}for query type`)
    const found = RESOURCES.find((name) => name === value)
    if (found === undefined) throw new Mismatch(`Can't parse value '${value}' as neitherQueryTypeLuxi nor QueryTypeOp`)
    return found
  },
}

const filterAction: Shape<unknown> = {
  schema: {},
  parse(value): unknown {
    if (isFilterAction(value)) return value
    if (Array.isArray(value) && value[0] === 'RATE_LIMIT')
      throw new Mismatch('RATE_LIMIT argument must be a positive integer')
    throw new Mismatch(`malformed FilterAction JSON: ${JSON.stringify(value)}`)
  },
}

const predicate: Shape<unknown> = {
  schema: {},
  parse(value) {
    const [kind, ...parameters]: readonly unknown[] = Array.isArray(value) ? value : []
    if (['jobid', 'opcode', 'reason'].some((name) => name === kind) && parameters.length === 1) return value
    throw new Mismatch(
      typeof kind === 'string'
        ? `malformed FilterPredicate: bad parameter list for '${kind}' predicate: ${JSON.stringify(parameters)}`
        : 'malformed FilterPredicate: must be a list with the first entry being a string describing the predicate type',
    )
  },
}

const trail: Shape<readonly unknown[]> = reasonTrail

export const filterRule = [orNull(text), nonNegative(int), listOf(predicate), filterAction, trail] as const
