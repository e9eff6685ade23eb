// Checks an instance against its group's instance policy.
import type { Disk, IPolicy, ISpec } from '../../../model/config'

export interface InstanceSpec {
  readonly diskSizes_mib: readonly number[]
  /** Missing values are not checked. */
  readonly memory_mib?: number
  readonly vcpus?: number
  readonly nics?: number
  readonly spindles?: number
  readonly template: string
}

/** Where nodes give whole physical volumes to disks, these count, and not the share of a node's spindles that instances have otherwise. */
export const countedSpindles = (
  disks: readonly Pick<Disk, 'spindles'>[],
  { spindle_use }: { readonly spindle_use: number },
  exclusive: boolean,
): number => (exclusive ? disks.reduce((sum, { spindles = 0 }) => sum + spindles, 0) : spindle_use)

/** The complaints of the bounds that fit best; empty if the instance is allowed. */
export function policyViolations(policy: IPolicy, spec: InstanceSpec): string[] {
  const templates = policy['disk-templates']
  const template = templates.some((allowed) => allowed === spec.template)
    ? []
    : [`Disk template ${spec.template} is not allowed (allowed templates: ${templates.join(', ')})`]
  const byBounds = policy.minmax.map(({ min, max }) => boundViolations(min, max, spec))
  const fewest = byBounds.sort((a, b) => a.length - b.length)[0] ?? []
  return [...template, ...fewest]
}

function boundViolations(min: ISpec, max: ISpec, spec: InstanceSpec): string[] {
  const values: [key: keyof ISpec, value: number | undefined, place?: number][] = [
    ['memory-size', spec.memory_mib],
    ['cpu-count', spec.vcpus],
    // An instance without disks need not have the minimum number of disks.
    ['disk-count', spec.diskSizes_mib.length || undefined],
    ['nic-count', spec.nics],
    ['spindle-use', spec.spindles],
    ...spec.diskSizes_mib.map((size, index): [keyof ISpec, number, number] => ['disk-size', size, index]),
  ]
  return values.flatMap(([key, value, place]) => {
    if (value === undefined || (value >= min[key] && value <= max[key])) return []
    const name = place === undefined ? key : `${key}/${place}`
    return [`${name} value ${value} is not in range [${min[key]}, ${max[key]}]`]
  })
}
