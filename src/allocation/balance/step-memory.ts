// Remembers the results of moves until the next move is made. Alike moves have the same result.
import type { Floor } from './bounds'
import type { ClusterModel } from '../model/cluster-model'
import type { Outcome } from './effects'
import type { AlikeNodes } from '../model/exact-columns'
import { Likeness } from './equivalence'
import type { Kind } from './move-kinds'
import { NODE_KINDS_MAX } from '../../model/limits/allocation'

/** A kind of move of an instance, and of all instances like it. */
export interface Known {
  readonly kind: Kind
  floor: Floor | undefined
  /** By `targetKey` of the target. */
  outcomes: Map<number, Outcome> | undefined
  step: number
}

/** Targets that are alike. */
export interface TargetKind extends AlikeNodes {
  readonly id: number
  /** The index of the first of them in the list of targets. */
  readonly place: number
  readonly nodes: number[]
}

/** Greater than any kind's order, so that instance and order combine into one number. */
export const ORDERS = 8

export class StepMemory {
  private readonly likeness: Likeness
  private readonly known: Known[] = []
  private step = 0
  private groupedAt = -1
  private groups = new Map<number, TargetKind>()
  private groupList: readonly TargetKind[] = []

  constructor(
    model: ClusterModel,
    private readonly targets: readonly number[],
  ) {
    this.likeness = new Likeness(model)
  }

  of(instance: number, kind: Kind): Known {
    const { step } = this
    const at = this.likeness.sourceOf(instance) * ORDERS + kind.order + 1
    const found = (this.known[at] ??= { kind, floor: undefined, outcomes: undefined, step })
    if (found.step !== step) {
      found.floor = found.outcomes = undefined
      found.step = step
    }
    return found
  }

  /** The same number for alike instances on alike nodes. */
  likeOf(instance: number): number {
    return this.likeness.sourceOf(instance)
  }

  targetKinds(): readonly TargetKind[] {
    if (this.groupedAt === this.step) return this.groupList
    this.groupedAt = this.step
    const found = (this.groups = new Map<number, TargetKind>())
    this.targets.forEach((node, place) => {
      const id = this.likeness.kindOf(node)
      const group = found.get(id)
      if (group === undefined) found.set(id, { id, index: found.size, place, nodes: [node] })
      else group.nodes.push(node)
    })
    return (this.groupList = [...found.values()])
  }

  /** The targets that are like this one. */
  alikeTo(target: number): TargetKind | undefined {
    this.targetKinds()
    return this.groups.get(this.likeness.kindOf(target))
  }

  /** The same for alike targets that keep the same memory. A target that keeps none has the id of its kind. */
  targetKey(kind: Kind, to: number): number {
    return this.likeness.kindOf(to) + kind.kept(to) * NODE_KINDS_MAX
  }

  /** A move was made between these nodes. */
  moved(nodes: readonly number[]): void {
    this.step++
    this.likeness.touch(nodes)
  }
}
