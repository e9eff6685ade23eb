// Fills a cluster with shrinking instances: when no more of a size fit, the resource that was lacking most is reduced,
// and filling goes on. Each size is a tier.
import type { InstanceData } from '../model/cluster-data'
import { failCounts } from '../model/fail-modes'
import type { Filled, Filling } from './filling'
import { Verdict } from '../model/placement'
import { shrunk, stepsOf, turns } from './shrink'

/**
 * Adds at most `limit` instances; `before` were placed earlier. As in Ganeti, each size subtracts all instances so far
 * from the limit again, so fewer may be added.
 */
export function fillTiers(filling: Filling, first: InstanceData, limit: number | undefined, before = 0): Filled {
  const added: number[] = []
  /** The sizes that were tried since an instance last fitted. */
  let tried: Tier[] = []
  let [spec, left]: [InstanceData | undefined, number | undefined] = [first, limit]
  while (spec !== undefined) {
    const filled = filling.fill(spec, left)
    added.push(...filled.added)
    const placed = before + added.length
    const tier = tierOf(spec, filled.failures, left === undefined ? undefined : left - placed)
    const stop = left !== undefined && left <= placed
    if (stop && (filled.added.length > 0 || tried.length === 0)) return { added, failures: tier.failures }
    if (filled.added.length > 0) tried = []
    if (!stop) tried.push(tier)
    left = tier.left
    const worst = tier.worst.at(0) ?? Verdict.internal
    spec = stop || stepsOf(spec, worst) === 0 ? undefined : shrunk(spec, worst, 1)
    if (spec !== undefined) continue
    const enough = enoughSmaller(filling, [...tried].reverse())
    spec = enough?.spec
    left = enough?.left
  }
  return { added, failures: tried[0]?.failures ?? [] }
}

interface Tier {
  readonly spec: InstanceData
  readonly failures: readonly number[]
  /** The lacking resources, most frequent first; among equals the last one in Ganeti's order first. */
  readonly worst: readonly Verdict[]
  /** How much of the limit is left for the next sizes. */
  readonly left: number | undefined
}

function tierOf(spec: InstanceData, failures: readonly number[], left: number | undefined): Tier {
  const order = failCounts(failures).map(([, count, verdict]) => ({ count, verdict }))
  order.sort((one, other) => one.count - other.count)
  return { spec, failures, worst: order.map(({ verdict }) => verdict).reverse(), left }
}

/**
 * Finds the first tier, and in it the first lacking resource, where an instance fits if it asks for less of that
 * resource. In the list each tier is larger than the one before, by one step of the resource that it lacks most.
 */
function enoughSmaller(filling: Filling, tiers: readonly Tier[]): Pick<Tier, 'spec' | 'left'> | undefined {
  let before = false
  for (const { spec, failures, worst, left } of tiers) {
    for (const [at, verdict] of worst.entries()) {
      if ((failures[verdict] ?? 0) === 0) continue
      // The previous tier already tried less of the same resource, without success.
      if (at === 0 && before) continue
      const enough = shrinkUntilItFits(filling, spec, verdict)
      if (enough !== undefined) return { spec: enough, left }
    }
    before = true
  }
  return undefined
}

/**
 * Reduces one resource while it is the lacking one, but never to zero, as in Ganeti. Between two sizes at which a
 * policy's verdict changes, a smaller instance either lacks the same or fits. So the first fitting size is found by
 * bisection. Only if global N+1 forbids a fitting size, every size is tried.
 */
function shrinkUntilItFits(filling: Filling, spec: InstanceData, verdict: Verdict): InstanceData | undefined {
  const end = stepsOf(spec, verdict)
  const starts = turns(spec, verdict, filling.policies, [1, end - 1])
  const lacking = ({ failures }: { failures: readonly number[] }) => (failures[verdict] ?? 0) > 0
  for (const [at, start] of starts.entries()) {
    const next = Math.min(starts[at + 1] ?? end, end)
    const first = firstOf(start, next, (steps) => {
      const smaller = shrunk(spec, verdict, steps)
      const counted = filling.count(smaller)
      return !lacking(counted) || (counted.fits && filling.mayHold(smaller))
    })
    for (let steps = first; steps < next; steps++) {
      const smaller = shrunk(spec, verdict, steps)
      const looked = filling.look(smaller)
      if (looked.fits) return smaller
      if (!lacking(looked)) return undefined
    }
  }
  return undefined
}

/**
 * The first value from `start` on for which the condition holds, or `end`. The condition must hold for all greater
 * values too.
 */
function firstOf(start: number, end: number, holds: (value: number) => boolean): number {
  if (start >= end || !holds(end - 1)) return end
  let [low, high] = [start, end - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}
