import type { FilterUuid } from './ids'

export type FilterAction = 'ACCEPT' | 'PAUSE' | 'REJECT' | 'CONTINUE' | readonly ['RATE_LIMIT', number]
/** `[source, text, nanoseconds since the epoch]` */
export type ReasonEntry = readonly [source: string, text: string, time_ns: number]
export type FilterPredicate = readonly [kind: 'jobid' | 'opcode' | 'reason', filter: unknown]

/** A rule of the job filter chain. */
export interface FilterRule {
  /** The last job id when the rule was made: older jobs are not touched by it. */
  readonly watermark: number
  readonly priority: number
  readonly predicates: readonly FilterPredicate[]
  readonly action: FilterAction
  readonly reason_trail: readonly ReasonEntry[]
  readonly uuid: FilterUuid
}
