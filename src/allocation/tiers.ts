// Filling a cluster with instances that shrink: when none fits any more, what they lacked most is made smaller, and it goes on.
import type { DiskData, InstanceData } from './cluster-data'
import { failCounts } from './fail-modes'
import type { Filled, Filling } from './filling'
import { Verdict } from './placement'
import { disksOf } from './policy'

const UNIT = { memory: 64, disk: 256, cpus: 1, spindles: 1 }

/**
 * At most `limit` instances, when there are `before` already. As in Ganeti what is left of the limit shrinks with each size by all that
 * were placed until then, so that it is reached sooner than it says.
 */
export function fillTiers(filling: Filling, first: InstanceData, limit: number | undefined, before = 0): Filled {
  const added: number[] = []
  /** What was tried since the last instance that fitted. */
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
    spec = stop ? undefined : shrink(spec, tier.worst.at(0) ?? Verdict.internal)
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
  /** What was lacking, most often first; in Ganeti's order where it was as often, the last first. */
  readonly worst: readonly Verdict[]
  /** For what comes after it. */
  readonly left: number | undefined
}

function tierOf(spec: InstanceData, failures: readonly number[], left: number | undefined): Tier {
  const order = failCounts(failures).map(([, count, verdict]) => ({ count, verdict }))
  order.sort((one, other) => one.count - other.count)
  return { spec, failures, worst: order.map(({ verdict }) => verdict).reverse(), left }
}

/** The first of the tiers, and the first thing that is lacking there, of which so much less can be asked that one fits. */
function enoughSmaller(filling: Filling, tiers: readonly Tier[]): Pick<Tier, 'spec' | 'left'> | undefined {
  const known: Known = new Map()
  for (const { spec, worst, left } of tiers) {
    for (const verdict of worst) {
      const enough = shrinkUntilItFits(filling, spec, verdict, known)
      if (enough !== undefined) return { spec: enough, left }
    }
  }
  return undefined
}

type Known = Map<string, InstanceData | undefined>

/** Shrunk in one thing only, as long as it is that which is lacking. */
function shrinkUntilItFits(
  filling: Filling,
  spec: InstanceData,
  verdict: Verdict,
  known: Known,
): InstanceData | undefined {
  const passed: string[] = []
  const found = (): InstanceData | undefined => {
    for (let one = shrink(spec, verdict); one !== undefined; one = shrink(one, verdict)) {
      const key = JSON.stringify([verdict, one.memory, one.vcpus, one.disks])
      if (known.has(key)) return known.get(key)
      passed.push(key)
      const { fits, failures } = filling.look(one)
      if (fits) return one
      if ((failures[verdict] ?? 0) === 0) return undefined
    }
    return undefined
  }
  const result = found()
  for (const key of passed) known.set(key, result)
  return result
}

function shrink(spec: InstanceData, verdict: Verdict): InstanceData | undefined {
  const disks = disksOf(spec)
  switch (verdict) {
    case Verdict.memory: {
      const memory = spec.memory - UNIT.memory
      return memory < UNIT.memory ? undefined : { ...spec, memory }
    }
    case Verdict.disk: {
      const smaller = disks.map((disk): DiskData => ({ ...disk, size: disk.size - UNIT.disk }))
      if (smaller.some(({ size }) => size < UNIT.disk)) return undefined
      return { ...spec, disks: smaller, disk: spec.disk - disks.length * UNIT.disk }
    }
    case Verdict.cpu: {
      const vcpus = spec.vcpus - UNIT.cpus
      return vcpus < UNIT.cpus ? undefined : { ...spec, vcpus }
    }
    case Verdict.spindles: {
      const [disk, ...others] = disks
      const spindles = (disk?.spindles ?? 0) - UNIT.spindles
      if (disk?.spindles === undefined || others.length > 0 || spindles < UNIT.spindles) return undefined
      return { ...spec, disks: [{ ...disk, spindles }], spindles }
    }
    default:
      return undefined
  }
}
