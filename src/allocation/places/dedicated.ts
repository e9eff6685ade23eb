// Allocation of instances that have whole disks to themselves. Evenness does not count. A place is judged by its cost:
// the instances of the smallest sizes that the node could hold before and cannot hold afterwards.
import type { AllocOptions } from '../model/options'
import type { Tried } from './allocate'
import type { Changes } from '../model/changes'
import { type InstanceData, NO_NODE, type Policy, nodesNeeded } from '../model/cluster-data'
import { type ClusterModel, Col, type InstanceFacts, instanceFacts } from '../model/cluster-model'
import { Placement, SOFT, STRICT, Verdict } from '../model/placement'
import { judgePolicy } from '../model/policy'
import type { Placed } from '../model/ties'
import { IMMOVABLE } from '../../model/templates'

/** Losses are compared by the number of lost instances, largest disks first, then by the remaining disk. */
export interface Loss {
  readonly lost: readonly number[]
  readonly disk: number
}

/** Whether all nodes that an allocation may choose from give instances whole disks. */
export const isDedicated = ({ data, nodes }: ClusterModel, group?: string): boolean =>
  nodes.every(({ data: node }) => {
    const own = data.groups[node.group]
    const counts = group === undefined ? own?.allocPolicy !== 'unallocable' : own?.name === group
    return node.exclusiveStorage || !counts
  })

export interface DedicatedTried extends Tried {
  readonly loss: Loss | undefined
}

export const lossText = ({ lost, disk }: Loss): string => `([${lost.join(',')}],${disk})`

export function compareLoss(one: Loss, other: Loss): number {
  for (const [at, value] of one.lost.entries()) {
    const difference = value - (other.lost[at] ?? 0)
    if (difference !== 0) return difference
  }
  return one.disk - other.disk
}

export function tryDedicated(
  model: ClusterModel,
  changes: Changes,
  instance: number,
  nodes: readonly number[],
  { ignoreSoftErrors }: AllocOptions,
): DedicatedTried {
  const failures: number[] = []
  const measure = new Measure(model, changes)
  const template = model.instances[instance]?.data.template ?? IMMOVABLE
  let [best, fits]: [{ placed: Placed; loss: Loss } | undefined, number] = [undefined, 0]
  const consider = (placed: Placed, found: Loss | Verdict) => {
    if (typeof found === 'number') {
      failures[found] = (failures[found] ?? 0) + 1
      return
    }
    fits++
    if (best === undefined || compareLoss(best.loss, found) >= 0) best = { placed, loss: found }
  }
  for (const primary of nodes) {
    const first = measure.primary(instance, primary, ignoreSoftErrors)
    if (nodesNeeded(template) === 1) {
      consider({ primary, secondary: NO_NODE, score: 0 }, first)
      continue
    }
    for (const secondary of nodes) {
      if (secondary === primary) continue
      const second = typeof first === 'number' ? first : measure.secondary(instance, secondary, primary)
      const both = typeof first === 'number' || typeof second === 'number' ? second : added(first, second)
      consider({ primary, secondary, score: 0 }, both)
    }
  }
  // The compiler does not see assignments in closures.
  const found = best as { placed: Placed; loss: Loss } | undefined
  return { solution: found?.placed, loss: found?.loss, fits, failures }
}

class Measure {
  private readonly placement: Placement

  constructor(
    private readonly model: ClusterModel,
    private readonly changes: Changes,
  ) {
    this.placement = new Placement(model, new Float64Array(2 * Col.Width))
  }

  primary(instance: number, node: number, lenient: boolean): Loss | Verdict {
    const [facts, target] = [this.model.instances[instance], this.model.nodes[node]]
    if (facts === undefined || target === undefined) return Verdict.internal
    const fit = judgePolicy(facts.data, this.policyOf(node), target.data.exclusiveStorage)
    if (fit !== Verdict.ok) return fit
    return this.loss(node, () => this.placement.addPrimary(0, node, instance, 0, lenient ? SOFT : STRICT))
  }

  secondary(instance: number, node: number, primary: number): Loss | Verdict {
    return this.loss(node, () => this.placement.addSecondary(0, node, instance, primary, STRICT))
  }

  private loss(node: number, add: () => Verdict): Loss | Verdict {
    this.placement.copy(node, 0)
    const before = this.room(node)
    const verdict = add()
    if (verdict !== Verdict.ok) return verdict
    const disk = this.placement.rows[Col.FreeDisk] ?? 0
    return { lost: this.room(node).map((after, at) => (before[at] ?? 0) - after), disk }
  }

  /** How many instances of each smallest size fit on the node as its row is now. */
  private room(node: number): number[] {
    return smallest(this.model, this.policyOf(node)).map((facts) => {
      const instance = this.changes.add(facts)
      this.placement.copyRow(0, Col.Width)
      let count = 0
      while (this.placement.addPrimary(Col.Width, node, instance, 0, STRICT) === Verdict.ok) count++
      this.changes.drop()
      return count
    })
  }

  private policyOf(node: number): Policy {
    const { groups, policy, nodes } = this.model.data
    return groups[nodes[node]?.group ?? -1]?.policy ?? policy
  }
}

const added = (one: Loss, other: Loss): Loss => ({
  lost: one.lost.map((value, at) => value + (other.lost[at] ?? 0)),
  disk: one.disk + other.disk,
})

function smallest(model: ClusterModel, policy: Policy): InstanceFacts[] {
  const specs = policy.minMax.map(({ min }) => min).sort((one, other) => other.disk - one.disk)
  return specs.map((spec) => {
    const data: InstanceData = {
      name: 'minimalspecinstance',
      memory: spec.memory,
      disk: spec.disk,
      disks: [],
      vcpus: spec.cpus,
      status: 'running',
      autoBalance: false,
      primary: NO_NODE,
      secondary: NO_NODE,
      template: 'plain',
      tags: [],
      spindleUse: spec.spindles,
      spindles: 0,
      forthcoming: false,
    }
    return instanceFacts(data, model.data, model.settings, data.name)
  })
}
