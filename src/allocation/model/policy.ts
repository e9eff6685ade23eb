// Checks an instance's size and kind against the policy of a node group.
import type { InstanceData, Policy, Spec } from './cluster-data'
import { Verdict } from './placement'
import { hasDisks } from '../../model/templates'

export function judgePolicy(instance: InstanceData, policy: Policy, exclusiveStorage: boolean): Verdict {
  let verdict: Verdict = policy.minMax.length === 0 ? Verdict.ok : Verdict.internal
  // Fitting one pair of bounds is enough. Otherwise the first pair gives the reason.
  for (const { min, max } of [...policy.minMax].reverse()) {
    if (verdict === Verdict.ok) break
    verdict = compare(instance, min, exclusiveStorage, -1) || compare(instance, max, exclusiveStorage, 1)
  }
  if (verdict !== Verdict.ok) return verdict
  return policy.templates.includes(instance.template) ? Verdict.ok : Verdict.disk
}

export const disksOf = ({ disks, disk, spindles }: InstanceData) => disks ?? [{ size: disk, spindles }]

function compare(instance: InstanceData, spec: Spec, exclusiveStorage: boolean, wrong: -1 | 1): Verdict {
  const beyond = (value: number, limit: number) => Math.sign(value - limit) === wrong
  const disks = disksOf(instance)
  if (beyond(instance.memory, spec.memory)) return Verdict.memory
  if (disks.some(({ size }) => beyond(size, spec.disk))) return Verdict.disk
  if (beyond(instance.vcpus, spec.cpus)) return Verdict.cpu
  const spindles = exclusiveStorage ? instance.spindles : instance.spindleUse
  if (spindles === undefined || beyond(spindles, spec.spindles)) return Verdict.spindles
  if (hasDisks(instance.template) && beyond(disks.length, spec.disks)) return Verdict.diskCount
  return Verdict.ok
}
