// Checks the answers of allocators, because anybody may have written the script.
import type { Relocation } from '../../allocation/questions/replay'
import type { Evacuation } from '../../allocation/model/requests'
import { ResultValidationError } from '../../model/errors'
import { TOLD_CHARS_MAX } from '../../model/limits/node'
import { pythonRepr } from '../../lib/text/python-text'
import { startOf } from '../../lib/text/short-text'
import { errorText } from '../../lib/system-failure'
import { dictOf, listOf, orNull, tuple } from '../../lib/shapes/containers'
import { any, int, nonEmpty, nonNegative, oneOf } from '../../lib/shapes/leaves'
import type { Shape } from '../../lib/shapes/shape'

const nodeList = listOf(nonEmpty)
const allocations = listOf(tuple(nonEmpty, nodeList))
const moves = tuple(
  listOf(tuple(nonEmpty, nonEmpty, nodeList)),
  listOf(tuple(nonEmpty, orNull(nonEmpty))),
  listOf(listOf(dictOf(any))),
)
/** Opcodes that an allocator may request. */
const stepId = oneOf('MoveStep', ['OP_INSTANCE_FAILOVER', 'OP_INSTANCE_MIGRATE', 'OP_INSTANCE_REPLACE_DISKS'])

const relocations = listOf(tuple(nonEmpty, nodeList, nodeList))
const fitting = tuple(nonNegative(int), listOf(nodeList))

/** Names of nodes, exactly as many as requested. */
export function nodesOf(result: unknown, count: number): readonly string[] {
  const names = parsed(nodeList, result)
  if (names.length === count) return names
  throw new ResultValidationError(`iallocator returned invalid number of nodes (${names.length}), required ${count}`)
}

/** The answer to a multi-allocate: the nodes of each placed instance. */
export const placedOf = (result: unknown): ReadonlyMap<string, readonly string[]> =>
  new Map(parsed(allocations, Array.isArray(result) ? (result as readonly unknown[])[0] : result))

/** The answer to a balance: the moves, in order. */
export const relocationsOf = (result: unknown): Relocation[] =>
  parsed(relocations, result).map(([instance, from, to]) => ({ instance, from, to }))

/** The answer to a question about capacity: the nodes of each instance that fits. */
export function placesOf(result: unknown, count: number): readonly (readonly string[])[] {
  const [fits, places] = parsed(fitting, result)
  if (fits === places.length && places.every(({ length }) => length === count)) return places
  throw new ResultValidationError(
    `iallocator returned places for ${places.length} instances of ${fits}, each of which has ${count} node(s)`,
  )
}

export function evacuationOf(result: unknown): Evacuation {
  const [moved, failed, jobs] = parsed(moves, result)
  return {
    moved: moved.map(([instance, group, nodes]) => ({ instance, group, nodes })),
    failed: failed.map(([instance, why]) => ({ instance, why: why ?? 'no reason was given' })),
    jobs: jobs.map((steps) => steps.map((step) => ({ ...step, OP_ID: parsed(stepId, step['OP_ID']) }))),
  }
}

function parsed<T>(check: Shape<T>, result: unknown): T {
  try {
    return check.parse(result)
  } catch (error) {
    const why = errorText(error)
    const got = startOf(pythonRepr(result), TOLD_CHARS_MAX)
    throw new ResultValidationError(`iallocator returned invalid result: ${why}, got ${got}`)
  }
}
