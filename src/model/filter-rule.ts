// Filter rules of the queue, and their actions.
import type { FilterUuid } from './ids'

/** `RATE_LIMIT` also has a number. */
export const FILTER_ACTIONS = ['ACCEPT', 'PAUSE', 'REJECT', 'CONTINUE'] as const
export type FilterAction = (typeof FILTER_ACTIONS)[number] | readonly ['RATE_LIMIT', number]

export function isFilterAction(value: unknown): value is FilterAction {
  if (!Array.isArray(value)) return FILTER_ACTIONS.some((name) => name === value)
  return value.length === 2 && value[0] === 'RATE_LIMIT' && Number.isInteger(value[1]) && value[1] > 0
}

/** `[source, text, nanoseconds since the epoch]` */
export type ReasonEntry = readonly [source: string, text: string, time_ns: number]
export type FilterPredicate = readonly [kind: 'jobid' | 'opcode' | 'reason', filter: unknown]

/** A rule of the job filter chain. */
export interface FilterRule {
  /** The last job id when the rule was made. The rule ignores older jobs. */
  readonly watermark: number
  readonly priority: number
  readonly predicates: readonly FilterPredicate[]
  readonly action: FilterAction
  readonly reason_trail: readonly ReasonEntry[]
  readonly uuid: FilterUuid
}
