// Job filter rules: which of them applies to a job. Rules are tried by priority, then age, then uuid; the first whose
// predicates all hold decides, unless it says CONTINUE.
import { compileRegex } from '../lib/regex'
import type { FilterRule } from '../model/filter-rule'
import type { Job } from './job'

/** A rule as the configuration has it; only what decides is read here. */
export type JobFilter = Pick<FilterRule, 'uuid' | 'priority' | 'watermark' | 'action' | 'predicates'>

export function sortedFilters(filters: Iterable<JobFilter>): JobFilter[] {
  return [...filters].sort(
    (a, b) => a.priority - b.priority || a.watermark - b.watermark || (a.uuid < b.uuid ? -1 : Number(a.uuid > b.uuid)),
  )
}

/** The rule that decides about the job, or undefined when none does. `filters` are sorted. */
export function applyingFilter(job: Job, filters: readonly JobFilter[]): JobFilter | undefined {
  return filters.find(
    (filter) => filter.action !== 'CONTINUE' && filter.predicates.every((predicate) => holds(predicate, job, filter)),
  )
}

type Fields = Readonly<Record<string, unknown>>

function holds(predicate: readonly unknown[], job: Job, filter: JobFilter): boolean {
  const [kind, condition] = predicate
  if (kind === 'jobid') return matches(condition, { id: job.id, watermark: filter.watermark })
  if (kind === 'opcode') return job.ops.some((op) => matches(condition, op.input))
  if (kind !== 'reason') return false
  return job.ops.some((op) => reasonsOf(op.input['reason']).some((reason) => matches(condition, reason)))
}

function reasonsOf(trail: unknown): Fields[] {
  if (!Array.isArray(trail)) return []
  return trail
    .filter((entry: unknown): entry is unknown[] => Array.isArray(entry))
    .map(([source, reason, timestamp]) => ({ source, reason, timestamp }))
}

/** A condition on fields that are not there, or of another type, does not hold. */
function matches(condition: unknown, fields: Fields): boolean {
  if (condition === null) return true
  if (!Array.isArray(condition)) return false
  const [operator, ...operands]: unknown[] = condition
  switch (operator) {
    case '&':
      return operands.every((part) => matches(part, fields))
    case '|':
      return operands.some((part) => matches(part, fields))
    case '!':
      return !matches(operands[0], fields)
    case '!=':
      return !compares('==', operands, fields)
    default:
      return typeof operator === 'string' && compares(operator, operands, fields)
  }
}

function compares(operator: string, [name, operand]: unknown[], fields: Fields): boolean {
  if (typeof name !== 'string' || !Object.hasOwn(fields, name)) return false
  const value = fields[name]
  if (operator === '?') return value === true
  if (operator === '=[]') return Array.isArray(value) && value.includes(operand)
  if (operator === '=~') return typeof value === 'string' && typeof operand === 'string' && finds(operand, value)
  // `["<", "id", "watermark"]`: the rule's own mark stands for a number.
  const other = name === 'id' && operand === 'watermark' ? fields['watermark'] : operand
  if (operator === '=' || operator === '==') return value === other
  if (typeof value === 'number' && typeof other === 'number') return ordered(operator, value, other)
  if (typeof value === 'string' && typeof other === 'string') return ordered(operator, value, other)
  return false
}

function ordered<T extends string | number>(operator: string, left: T, right: T): boolean {
  if (operator === '<') return left < right
  if (operator === '>') return left > right
  if (operator === '<=') return left <= right
  return operator === '>=' && left >= right
}

/** A pattern that only another program could read, or that is too long, finds nothing. */
function finds(pattern: string, text: string): boolean {
  try {
    return compileRegex(pattern).test(text)
  } catch {
    return false
  }
}
