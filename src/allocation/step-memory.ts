// What is known of moves until the next one is made: what one gives, all give that are like it.
import type { Floor } from './bounds'
import type { Counted } from './score'
import type { ClusterModel } from './cluster-model'
import { Likeness } from './likeness'
import type { Kind } from './move-kinds'
import { NODE_KINDS_MAX } from '../model/limits'

/** What a move does to its nodes, which are told by their places: the primary and the secondary before it, and those after it. */
export interface Effect {
  readonly changed: readonly {
    readonly place: number
    readonly spreads: Float64Array
    readonly counted: Readonly<Counted>
  }[]
  readonly pairs: number
  /** By the nodes: the score to Ganeti's last bit. */
  readonly exact: Map<number, number>
}

export interface Outcome {
  /** Infinity if it may not be made, or leaves more than the limit. */
  readonly score: number
  readonly limit: number
  effect?: Effect
}

/** A kind of move of an instance, and of all that are like it. */
export interface Known {
  readonly kind: Kind
  floor: Floor | undefined
  /** By what the target is and keeps. */
  outcomes: Map<number, Outcome> | undefined
  step: number
}

/** Targets that are alike, by their places in the list. */
export interface TargetKind {
  readonly id: number
  readonly places: number[]
}

/** More than there are kinds of moves. */
export const ORDERS = 8

export class StepMemory {
  private readonly likeness: Likeness
  private readonly known: Known[] = []
  private step = 0
  private groupedAt = -1
  private groups: readonly TargetKind[] = []

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

  targetKinds(): readonly TargetKind[] {
    if (this.groupedAt === this.step) return this.groups
    this.groupedAt = this.step
    const found = new Map<number, TargetKind>()
    this.targets.forEach((node, place) => {
      const id = this.likeness.kindOf(node)
      const group = found.get(id)
      if (group === undefined) found.set(id, { id, places: [place] })
      else group.places.push(place)
    })
    return (this.groups = [...found.values()])
  }

  /** That of a target that keeps no memory is the id of its kind. */
  targetKey(kind: Kind, to: number): number {
    return this.likeness.kindOf(to) + kind.kept(to) * NODE_KINDS_MAX
  }

  /** A move was made between these nodes. */
  moved(nodes: readonly number[]): void {
    this.step++
    this.likeness.touch(nodes)
  }
}
