// Demands on a node that becomes the primary or secondary of an instance: the same for all instances of a size.
import { BOUND_SIZES_MAX } from '../../model/limits/allocation'
import { type Asked, type Columns, RANGE } from './bound-columns'
import type { InstanceFacts } from '../model/cluster-model'
import { RESERVED, SPREAD_COUNT } from '../model/score'

export class Role {
  private readonly bySize = new Map<string, Asked>()
  private readonly byInstance: Asked[] = []
  private readonly spare: Float64Array

  constructor(
    private readonly columns: Columns,
    targets: number,
    private readonly amountsOf: (facts: InstanceFacts) => number[],
  ) {
    this.spare = new Float64Array(targets)
  }

  /** If there are very many sizes, the result is valid only until the next call. */
  of(instance: number, facts: InstanceFacts): Asked {
    this.columns.follow()
    const requested = this.byInstance[instance] ?? this.ofSize(instance, facts)
    if (requested.version !== this.columns.version) this.columns.fill(requested)
    return requested
  }

  private ofSize(instance: number, facts: InstanceFacts): Asked {
    const amounts = Float64Array.from(this.amountsOf(facts))
    const counted = facts.data.forthcoming ? 0 : 1
    const key = `${amounts.join()} ${counted}`
    const full = this.bySize.size >= BOUND_SIZES_MAX
    const requested: Asked = this.bySize.get(key) ?? {
      amounts,
      counted,
      reserve: amounts[RESERVED] ?? 0,
      values: full ? this.spare : new Float64Array(this.spare.length),
      ranges: new Float64Array(SPREAD_COUNT * RANGE.width),
      least: Infinity,
      leastAt: 0,
      version: -1,
    }
    if (!full) this.bySize.set(key, requested)
    if (requested.values !== this.spare) this.byInstance[instance] = requested
    return requested
  }
}

export function asPrimary({ data, util, ...facts }: InstanceFacts): number[] {
  const real = data.forthcoming ? 0 : 1
  const local = facts.local ? 1 : 0
  const vcpus = facts.online ? data.vcpus : 0
  const [cpu = 0, memory = 0, disk = 0, net = 0] = util
  const used = facts.usesMemory ? data.memory : 0
  return [
    ...[real * used, real * local * data.disk, 0, real * vcpus, real * cpu, real * memory, real * disk, real * net],
    ...[real * facts.spindleUse, data.memory, local * data.disk, vcpus, facts.spindleUse],
  ]
}

export function asSecondary({ data, util, reserve, local, spindleUse }: InstanceFacts): number[] {
  const real = data.forthcoming ? 0 : 1
  const disk = local ? data.disk : 0
  return [
    ...[0, real * disk, real * reserve, 0, 0, 0, real * (util[2] ?? 0), 0],
    ...[real * spindleUse, 0, disk, 0, spindleUse],
  ]
}
