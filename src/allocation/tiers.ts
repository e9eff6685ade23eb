// Filling a cluster with instances that shrink: when none fits any more, what they lacked most is made smaller, and it goes on.
import type { InstanceData } from './cluster-data'
import { failCounts } from './fail-modes'
import type { Filled, Filling } from './filling'
import { Verdict } from './placement'
import { shrunk, stepsOf, turns } from './shrink'

/**
 * At most `limit` instances, when there are `before` already. As in Ganeti what is left of the limit shrinks with each size by all that
 * were placed until then, so that it is reached sooner than it says.
 */
export function fillTiers(filling: Filling, first: InstanceData, limit: number | undefined, before = 0): Filled {
  const added: number[] = []
  /** The trials since the last instance that fitted. */
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
  /** The resources that were lacking, the most frequent first; equally frequent ones in Ganeti's order, the last first. */
  readonly worst: readonly Verdict[]
  /** For what comes after it. */
  readonly left: number | undefined
}

function tierOf(spec: InstanceData, failures: readonly number[], left: number | undefined): Tier {
  const order = failCounts(failures).map(([, count, verdict]) => ({ count, verdict }))
  order.sort((one, other) => one.count - other.count)
  return { spec, failures, worst: order.map(({ verdict }) => verdict).reverse(), left }
}

/**
 * The first of the tiers, and the first thing that is lacking there, of which so much less can be asked that one fits. Each tier is one
 * step of what it lacks most larger than the one before it.
 */
function enoughSmaller(filling: Filling, tiers: readonly Tier[]): Pick<Tier, 'spec' | 'left'> | undefined {
  let before = false
  for (const { spec, failures, worst, left } of tiers) {
    for (const [at, verdict] of worst.entries()) {
      if ((failures[verdict] ?? 0) === 0) continue
      // The tier before was made smaller in the same, and no less is enough there.
      if (at === 0 && before) continue
      const enough = shrinkUntilItFits(filling, spec, verdict)
      if (enough !== undefined) return { spec: enough, left }
    }
    before = true
  }
  return undefined
}

/**
 * Shrunk in one thing only, as long as it is that which is lacking; to the very last unit it is not shrunk, as in Ganeti. As long as
 * policies judge the same, whatever the node, a smaller size lacks the same or fits: there the first size that matters is found by
 * halves. Only where global N+1 forbids what would fit, each size is looked at.
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

/** The first from `start` on of which it holds, `end` if there is none; once it holds, it holds until the end. */
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
