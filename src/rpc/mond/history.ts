// Parses the history of a monitoring daemon. It comes from another machine, so we check its shape.
import { hasMoreValues } from '../../lib/text/json-depth'
import { listOf, orNull } from '../../lib/shapes/containers'
import { float, int } from '../../lib/shapes/leaves'
import { objectOf } from '../../lib/shapes/objects'
import { Mismatch, type Shape } from '../../lib/shapes/shape'
import { plainly } from '../../lib/shapes/words'
import { INSTANCE_COLUMNS, type InstanceHistory, NODE_COLUMNS, type NodeHistory } from '../../model/history'
import { HISTORY_ANSWER_VALUES_MAX } from '../../model/limits/history'
import { MondFailure } from './client'

const columns = (names: readonly string[]) =>
  objectOf(
    {
      ...{ interval_s: int, times: listOf(float) },
      ...Object.fromEntries(names.map((name) => [name, listOf(orNull(float))])),
    },
    { others: 'dropped' },
  )

// The compiler cannot follow computed names.
export const nodeHistory = columns(NODE_COLUMNS) as unknown as Shape<NodeHistory>
export const instanceHistory = columns(INSTANCE_COLUMNS) as unknown as Shape<InstanceHistory>

/** The history of a node that measures nothing. */
export const NO_NODE_HISTORY = { interval_s: 0, times: [], ...emptyColumns(NODE_COLUMNS) } satisfies NodeHistory
export const NO_INSTANCE_HISTORY = {
  ...{ interval_s: 0, times: [], ...emptyColumns(INSTANCE_COLUMNS) },
} satisfies InstanceHistory

export const historyPath = {
  node: (since_s: number): string => `/1/history/node?since=${since_s}`,
  instance: (name: string, since_s: number): string =>
    `/1/history/instance/${encodeURIComponent(name)}?since=${since_s}`,
}

/** Throws a MondFailure that names the mistake. */
export function readHistory<T extends { readonly times: readonly number[] }>(shape: Shape<T>, text: string): T {
  if (hasMoreValues(text, HISTORY_ANSWER_VALUES_MAX))
    throw new MondFailure('bad', `its answer has more than ${HISTORY_ANSWER_VALUES_MAX} values`)
  try {
    const reported = shape.parse(JSON.parse(text))
    const wrong = Object.entries(reported).find(
      ([, column]) => Array.isArray(column) && column.length !== reported.times.length,
    )
    if (wrong !== undefined) throw new MondFailure('bad', `its answer has not one ${wrong[0]} for each of its times`)
    return reported
  } catch (error) {
    if (error instanceof MondFailure) throw error
    const why = error instanceof Mismatch ? plainly(error, { found: true }) : 'it is not JSON'
    throw new MondFailure('bad', `its answer is no history: ${why}`)
  }
}

function emptyColumns<N extends string>(names: readonly N[]): Record<N, never[]> {
  return Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<N, never[]>
}
