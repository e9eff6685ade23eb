// Questions to the allocation as they are asked of the master, and what a balance is answered with.
import type {
  ArrivingInstances,
  BalanceRequest,
  BalanceStep,
  CapacityRequest,
  GroupScore,
  InstanceSpecification,
  WhatIfRequest,
} from '../../model/allocation'
import {
  bool,
  type Check,
  float,
  int,
  listOf,
  Mismatch,
  nonEmpty,
  nonNegative,
  positive,
  record,
  refine,
} from '../../opcodes/check'
import { diskTemplate } from '../../opcodes/types'
import type { WireOpCode } from './calls'

/** What the master answers to a balance. */
export interface PlannedBalance {
  readonly plan: string | null
  readonly expires: number | null
  readonly groups: readonly GroupScore[]
  readonly steps: readonly BalanceStep[]
  readonly ops: readonly WireOpCode[]
  readonly more: boolean
}

const names = listOf(nonEmpty)

/** Exactly these keys, of which some must be there. */
function shape<T>(fields: Record<string, Check<unknown>>, required: readonly string[] = []): Check<T> {
  const all = record(fields, { rest: false })
  return {
    schema: all.schema,
    parse(value) {
      const read = all.parse(value)
      const missing = required.find((name) => read[name] === undefined)
      if (missing !== undefined) throw new Mismatch(`'${missing}' is missing`)
      // Checked field by field against the table beside the type.
      return read as T
    },
  }
}

const specification = shape<InstanceSpecification>(
  {
    ...{ disk_template: diskTemplate, memory_mib: positive(int), vcpus: positive(int) },
    ...{ disks_mib: listOf(positive(int)), spindle_use: nonNegative(int), tags: names, networks: names },
  },
  ['disk_template', 'memory_mib', 'vcpus'],
)

const balance = shape<BalanceRequest>({
  ...{ groups: names, max_moves: positive(int), disk_moves: bool, instance_moves: bool, evacuate: bool },
  ...{ restricted_migration: bool, min_gain: nonNegative(float), min_gain_limit: nonNegative(float) },
  ...{ explain: bool },
})

const capacity = shape<CapacityRequest>(
  { spec: specification, groups: names, max_instances: positive(int), explain: bool },
  ['spec'],
)

const arriving = shape<ArrivingInstances>({ spec: specification, count: positive(int), group: nonEmpty }, ['spec'])

const whatIf = refine(
  shape<WhatIfRequest>({ nodes: names, node_tag: nonEmpty, instances: listOf(arriving), explain: bool }),
  {},
  ({ nodes, node_tag, instances }) => nodes !== undefined || node_tag !== undefined || instances !== undefined,
  'says of nothing that happens: give nodes, node_tag or instances',
)

/** Each throws Mismatch with what is wrong. */
export const readBalance = (value: unknown): BalanceRequest => balance.parse(value)
export const readCapacity = (value: unknown): CapacityRequest => capacity.parse(value)
export const readWhatIf = (value: unknown): WhatIfRequest => whatIf.parse(value)
