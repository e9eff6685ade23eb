// The possible target nodes of an instance's moves, in the order of their trials: in a small cluster all, in a large
// one only those that could beat the best so far.
import { Bounds, type Floor } from './bounds'
import type { Asked } from './bound-columns'
import type { ClusterModel } from '../model/cluster-model'
import type { Score } from '../model/score'
import type { Known, TargetKind } from './step-memory'

export interface TargetSearch {
  readonly instance: number
  bound(): number
  excludes(to: number): boolean
  attempt(kind: Known, to: number): void
  targetKinds(): readonly TargetKind[]
  /** Tries this kind of move with each of these targets. */
  attemptAlike(kind: Known, targets: TargetKind): void
}

export interface TargetChoice {
  /** Whether some targets are skipped. */
  readonly weighed: boolean
  /**
   * Tries every kind of move with every target whose score could be below the bound; each trial may lower the bound.
   * Returns a score that no target can beat.
   */
  each(search: TargetSearch, kinds: readonly Known[]): number
}

export class Targets implements TargetChoice {
  private readonly bounds: Bounds | undefined

  constructor(
    private readonly model: ClusterModel,
    score: Score,
    private readonly nodes: readonly number[],
    boundedFrom: number,
  ) {
    const bounds = nodes.length < boundedFrom ? undefined : new Bounds(model, score, nodes)
    this.bounds = bounds?.usable === true ? bounds : undefined
  }

  get weighed(): boolean {
    return this.bounds !== undefined
  }

  each(search: TargetSearch, kinds: readonly Known[]): number {
    if (this.bounds !== undefined) return this.weigh(this.bounds, search, kinds)
    for (const to of this.nodes) {
      if (search.excludes(to)) continue
      for (const known of kinds) search.attempt(known, to)
    }
    return -Infinity
  }

  private weigh(bounds: Bounds, search: TargetSearch, kinds: readonly Known[]): number {
    const { instance } = search
    const facts = this.model.instances[instance]
    if (facts === undefined) return Infinity
    let lowest = Infinity
    let first: Weighed | undefined
    const weighed: Weighed[] = []
    for (const known of kinds) {
      const { kind } = known
      const requested = bounds.asked(kind.asPrimary, instance, facts)
      const { constant, leastChange } = (known.floor ??= bounds.floor(kind.source(), kind.asPrimary, requested))
      const least = constant + requested.least
      lowest = Math.min(lowest, least + leastChange)
      if (least + leastChange >= search.bound()) continue
      const one = { known, asked: requested, constant, leastChange, least }
      weighed.push(one)
      if (least < (first?.least ?? Infinity)) first = one
    }
    // Starts with the most promising target: it lowers the bound, so that few others are worth a trial.
    if (first !== undefined && first.least < search.bound()) this.attempt(search, first, first.asked.leastAt)
    for (const one of weighed) {
      if (one.leastChange < 0) this.trySpecial(bounds, search, one)
      this.tryAll(search, one)
    }
    return lowest
  }

  /** Targets that already keep memory for the same node may score better than their bound, so each is tried. */
  private trySpecial(bounds: Bounds, search: TargetSearch, one: Weighed): void {
    const { known, asked: requested, constant, leastChange } = one
    const { kind } = known
    for (const node of kind.special()) {
      const place = bounds.placeOf(node)
      if (place === undefined) continue
      const change = kind.asPrimary ? leastChange : bounds.changeWith(kind.kept(node), place, requested)
      if (constant + (requested.values[place] ?? 0) + change < search.bound()) this.attempt(search, one, place)
    }
  }

  private tryAll(search: TargetSearch, { asked: requested, constant, known }: Weighed): void {
    let limit = search.bound() - constant
    if (requested.least >= limit) return
    for (const kind of search.targetKinds()) {
      if ((requested.values[kind.place] ?? 0) >= limit) continue
      search.attemptAlike(known, kind)
      limit = search.bound() - constant
    }
  }

  private attempt(search: TargetSearch, { known }: Weighed, place: number): void {
    const to = this.nodes[place] ?? -1
    if (!search.excludes(to)) search.attempt(known, to)
  }
}

interface Weighed extends Floor {
  readonly known: Known
  readonly asked: Asked
  readonly least: number
}
