// Sizes of an instance that shrink, one unit of one resource at a time.
import type { DiskData, InstanceData, Policy, Spec } from '../model/cluster-data'
import { Verdict } from '../model/placement'
import { disksOf } from '../model/policy'

const UNIT = { memory: 64, disk: 256, cpus: 1, spindles: 1 }

interface Shrinking {
  readonly resource: keyof typeof UNIT
  /** The available amounts; for disks, on each node. */
  readonly values: readonly number[]
}

/** The resource to reduce when this is lacking. */
function shrinking(spec: InstanceData, verdict: Verdict): Shrinking | undefined {
  const disks = disksOf(spec)
  switch (verdict) {
    case Verdict.memory:
      return { resource: 'memory', values: [spec.memory] }
    case Verdict.disk:
      return { resource: 'disk', values: disks.map(({ size }) => size) }
    case Verdict.cpu:
      return { resource: 'cpus', values: [spec.vcpus] }
    case Verdict.spindles:
      return disks.length === 1 ? { resource: 'spindles', values: [disks[0]?.spindles ?? 0] } : undefined
    default:
      return undefined
  }
}

/** How many units of the lacking resource can be removed so that one is left. */
export function stepsOf(spec: InstanceData, verdict: Verdict): number {
  const { resource, values } = shrinking(spec, verdict) ?? {}
  if (resource === undefined || values === undefined || values.length === 0) return 0
  return Math.max(0, Math.floor(Math.min(...values) / UNIT[resource]) - 1)
}

/** The specification, smaller by this many steps. */
export function shrunk(spec: InstanceData, verdict: Verdict, steps: number): InstanceData {
  const disks = disksOf(spec)
  switch (verdict) {
    case Verdict.memory:
      return { ...spec, memory: spec.memory - steps * UNIT.memory }
    case Verdict.disk: {
      const by = steps * UNIT.disk
      const smaller = disks.map((disk): DiskData => ({ ...disk, size: disk.size - by }))
      return { ...spec, disks: smaller, disk: spec.disk - disks.length * by }
    }
    case Verdict.cpu:
      return { ...spec, vcpus: spec.vcpus - steps * UNIT.cpus }
    case Verdict.spindles: {
      const spindles = (disks[0]?.spindles ?? 0) - steps * UNIT.spindles
      return { ...spec, disks: disks.map((disk) => ({ ...disk, spindles })), spindles }
    }
    default:
      return spec
  }
}

/** The steps between `first` and `last` at which a policy's verdict changes. Always includes `first`. */
export function turns(
  spec: InstanceData,
  verdict: Verdict,
  policies: readonly Policy[],
  [first, last]: readonly [first: number, last: number],
): number[] {
  const { resource, values } = shrinking(spec, verdict) ?? {}
  if (resource === undefined || values === undefined) return []
  const limits = policies.flatMap(({ minMax }) => minMax.flatMap(({ min, max }) => [min, max].map(limitOn(resource))))
  const all = values.flatMap((value) =>
    limits.flatMap((limit) => {
      const steps = (value - limit) / UNIT[resource]
      // The first step at the limit, and the first below it.
      return [Math.ceil(steps), Math.floor(steps) + 1]
    }),
  )
  const inside = new Set(all.filter((steps) => steps > first && steps <= last))
  return [first, ...[...inside].sort((one, other) => one - other)]
}

const limitOn = (resource: keyof typeof UNIT) => (spec: Spec) => spec[resource]
