// Decides which filter rule applies to a job. Rules are tried by priority, then age, then uuid. The first rule whose
// predicates all hold decides, unless it says CONTINUE.
import { compileRegex, type Pattern } from '../lib/text/regex'
import type { Log } from '../lib/log'
import { errorText } from '../lib/system-failure'
import { commonParams } from '../opcodes/parse'
import { isInternalMark } from '../model/marks'
import type { FilterRule } from '../model/filter-rule'
import type { Job } from './job'

export function sortedFilters(filters: Iterable<FilterRule>): FilterRule[] {
  return [...filters].sort(
    (a, b) => a.priority - b.priority || a.watermark - b.watermark || (a.uuid < b.uuid ? -1 : Number(a.uuid > b.uuid)),
  )
}

/** The rule that decides about the job, or undefined when none does. `filters` are sorted. */
export function applyingFilter(job: Job, filters: readonly FilterRule[]): FilterRule | undefined {
  return filters.find(
    (filter) => filter.action !== 'CONTINUE' && filter.predicates.every((predicate) => holds(predicate, job, filter)),
  )
}

/** Warns about unreadable patterns, for example of another program's rule, or from before patterns were bounded. */
export function warnOfUnreadable(filters: readonly FilterRule[], log: Log): void {
  for (const rule of filters) {
    if (compiled.has(rule)) continue
    for (const [pattern, { reason }] of patternsOf(rule))
      if (reason !== undefined)
        log.warn(
          { filter: rule.uuid, pattern, reason },
          'a filter rule fits no job, because its pattern cannot be used',
        )
  }
}

/** How many jobs may run at a time with the same key. */
export interface Limit {
  readonly key: string
  readonly most: number
}

/** The job's limits: from the rule that applies to it, and from its reasons (`rate-limit:3:backups`). */
export function limitsOf(job: Job, filters: readonly FilterRule[]): Limit[] {
  const rule = filters.length === 0 ? undefined : applyingFilter(job, filters)
  const ofReasons = new Map(job.ops.flatMap((op) => reasonsOf(op.input['reason'])).flatMap(limitOf))
  const limits = [...ofReasons].map(([key, most]): Limit => ({ key, most }))
  return typeof rule?.action === 'object' ? [...limits, { key: rule.uuid, most: rule.action[1] }] : limits
}

function limitOf({ reason }: Fields): [key: string, most: number][] {
  const found = typeof reason === 'string' ? /^rate-limit:(\d+)(?::|$)/.exec(reason) : null
  const most = Number(found?.[1] ?? 0)
  return most > 0 ? [[String(reason), most]] : []
}

type Fields = Readonly<Record<string, unknown>>
/** Tests one field by an operator and an operand; undefined if the condition makes no sense. */
type Leaf = (operator: string, name: string, operand: unknown) => boolean | undefined

function holds([kind, condition]: readonly unknown[], job: Job, rule: FilterRule): boolean {
  if (kind === 'jobid') return evaluate(condition, idLeaf(job.id, rule.watermark)) === true
  if (kind === 'opcode') return job.ops.some((op) => isOpcode(condition, op.input, patternsOf(rule)))
  if (kind !== 'reason') return false
  return job.ops.some((op) =>
    reasonsOf(op.input['reason']).some((reason) => evaluate(condition, reasonLeaf(reason)) === true),
  )
}

function reasonsOf(trail: unknown): Fields[] {
  if (!Array.isArray(trail)) return []
  return trail
    .filter((entry: unknown): entry is unknown[] => Array.isArray(entry) && !isInternalMark(entry))
    .map(([source, reason, timestamp]) => ({ source, reason, timestamp }))
}

/** As in Ganeti, one senseless part makes the whole condition senseless, also below a negation. */
function evaluate(condition: unknown, leaf: Leaf): boolean | undefined {
  if (condition === null) return true
  if (!Array.isArray(condition)) return undefined
  const [operator, ...operands]: unknown[] = condition
  if (operator === '&' || operator === '|') {
    for (const part of operands) {
      const value = evaluate(part, leaf)
      if (value !== (operator === '&')) return value
    }
    return operator === '&'
  }
  if (operator === '!') return negated(evaluate(operands[0], leaf))
  const [name, operand] = operands
  if (typeof operator !== 'string' || typeof name !== 'string') return undefined
  return operator === '!=' ? negated(leaf('==', name, operand)) : leaf(operator, name, operand)
}

const negated = (value: boolean | undefined): boolean | undefined => (value === undefined ? undefined : !value)

/** In `["<", "id", "watermark"]`, the word stands for the rule's own watermark. */
const idLeaf =
  (id: number, watermark: number): Leaf =>
  (operator, name, operand) => {
    const other = operand === 'watermark' ? watermark : operand
    return name === 'id' && typeof other === 'number' ? compares(operator, id, other) : undefined
  }

/** Reasons can only be compared. */
const reasonLeaf =
  (reason: Fields): Leaf =>
  (operator, name, operand) =>
    Object.hasOwn(reason, name) ? compares(operator, reason[name], operand, TEXT_FIRST) : undefined

function isOpcode(condition: unknown, input: Fields, patterns: Patterns): boolean {
  const leaf: Leaf = (operator, name, operand) => {
    const value = access(input, name)
    if (operator === '?') return typeof value === 'boolean' ? value : undefined
    if (operator === '=[]') return contains(value, operand)
    if (operator === '=~') return typeof value === 'string' ? patterns.get(operand)?.regex?.test(value) : undefined
    return compares(operator, value, operand)
  }
  return namesIn(condition).every((name) => access(input, name) !== undefined) && evaluate(condition, leaf) === true
}

function namesIn(condition: unknown): string[] {
  if (!Array.isArray(condition)) return []
  const [operator, ...operands]: unknown[] = condition
  if (operator === '&' || operator === '|' || operator === '!') return operands.flatMap(namesIn)
  return typeof operands[0] === 'string' ? [operands[0]] : []
}

/** `disks` or `beparams.memory`. Common parameters of all opcodes, such as priority, do not count as fields here. */
function access(input: Fields, name: string): unknown {
  if (Object.hasOwn(commonParams, name)) return undefined
  return name.split('.').reduce((value: unknown, key) => {
    const inside = typeof value === 'object' && value !== null && !Array.isArray(value) && Object.hasOwn(value, key)
    return inside ? ((Reflect.get(value, key) as unknown) ?? undefined) : undefined
  }, input)
}

function contains(value: unknown, operand: unknown): boolean | undefined {
  if (!Array.isArray(value)) return undefined
  return value.every((one) => typeof one === typeof operand) ? value.includes(operand) : undefined
}

const TYPES = ['null', 'boolean', 'number', 'string', 'array', 'object'] as const
const TEXT_FIRST = ['string', 'number'] as const

/** Values of different types are ordered by their types. */
function compares(operator: string, left: unknown, right: unknown, types: readonly string[] = TYPES) {
  const order = types.indexOf(typeOf(left)) - types.indexOf(typeOf(right)) || ordered(left, right)
  switch (operator) {
    case '=':
    case '==':
      return order === 0
    case '<':
      return order < 0
    case '>':
      return order > 0
    case '<=':
      return order <= 0
    case '>=':
      return order >= 0
    default:
      return undefined
  }
}

function ordered(left: unknown, right: unknown): number {
  const comparable = typeof left === 'number' || typeof left === 'string'
  if (!comparable || (typeof right !== 'number' && typeof right !== 'string')) return 0
  return left < right ? -1 : Number(left > right)
}

const typeOf = (value: unknown): string => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

/** The patterns of one rule, by their text. `reason` says why a pattern cannot be used. */
type Patterns = ReadonlyMap<unknown, { readonly regex?: Pattern; readonly reason?: string }>

/** Rules are replaced, never changed, so each is compiled only once. */
const compiled = new WeakMap<FilterRule, Patterns>()

function patternsOf(rule: FilterRule): Patterns {
  const known = compiled.get(rule)
  if (known !== undefined) return known
  const patterns = new Map(
    rule.predicates.flatMap(([, condition]) => patternsIn(condition)).map((text) => [text, read(text)]),
  )
  compiled.set(rule, patterns)
  return patterns
}

function patternsIn(condition: unknown): string[] {
  if (!Array.isArray(condition)) return []
  const [operator, ...operands]: unknown[] = condition
  if (operator !== '=~') return operands.flatMap(patternsIn)
  return typeof operands[1] === 'string' ? [operands[1]] : []
}

function read(pattern: string) {
  try {
    return { regex: compileRegex(pattern) }
  } catch (error) {
    return { reason: errorText(error) }
  }
}
