// Ganeti's order of places that only differ by rounding.
import type { Alike } from './alike'
import { NO_NODE } from './cluster-data'
import { type ClusterModel, Col, sharedLocations } from './cluster-model'
import { ExactScore, changedNode } from './exact-score'
import { type Leniency, Placement, STRICT } from './placement'
import type { Score } from './score'

export interface Placed {
  readonly primary: number
  readonly secondary: number
  readonly score: number
}

/** Scores this close count as equal: rounding depends on the order of sums. */
export const SAME = 1e-10

export class Ties {
  private readonly exact: ExactScore
  private readonly placement: Placement

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    private readonly leniency: Leniency,
    private readonly alike: Alike,
  ) {
    this.exact = new ExactScore(model, score)
    this.placement = new Placement(model, new Float64Array(Col.Width))
  }

  /** The best place first; among equals the one that was tried last. Sorts only as far as the caller reads. */
  *inOrder(instance: number, places: readonly Placed[]): Generator<Placed, undefined> {
    const order = [...places].sort((one, other) => one.score - other.score)
    for (let from = 0, to = 1; from < order.length; from = to++) {
      while (to < order.length && (order[to]?.score ?? 0) - (order[to - 1]?.score ?? 0) < SAME) to++
      yield* this.untied(instance, order.slice(from, to))
    }
  }

  /** The score as Ganeti computes it, to the last bit. */
  exactly(instance: number, { primary, secondary }: Placed): number {
    const { model, placement } = this
    const location = secondary === NO_NODE ? 0 : sharedLocations(model.nodes[primary], model.nodes[secondary])
    placement.copy(primary, 0)
    placement.addPrimary(0, primary, instance, location, this.leniency)
    const changed = [changedNode(model, primary, placement.rows, 0)]
    if (secondary !== NO_NODE) {
      placement.copy(secondary, 0)
      placement.addSecondary(0, secondary, instance, primary, STRICT)
      changed.push(changedNode(model, secondary, placement.rows, 0))
    }
    return this.exact.after(changed, this.score.pairsAfter(instance, NO_NODE, primary), secondary === NO_NODE)
  }

  private untied(instance: number, places: readonly Placed[]): readonly Placed[] {
    if (places.length < 2) return places
    this.alike.kinds()
    const known = new Map<string, number>()
    const exact = places.map((place) => {
      const key = this.keyOf(place)
      const value = known.get(key) ?? this.exactly(instance, place)
      known.set(key, value)
      return { place, value }
    })
    exact.sort((one, other) => one.value - other.value || later(one.place, other.place))
    return exact.map(({ place }) => place)
  }

  /** Pairs of alike nodes have the same score; for single nodes the sums depend on the node's position. */
  private keyOf({ primary, secondary }: Placed): string {
    const { alike } = this
    const single = secondary === NO_NODE || this.model.served[primary]?.has(secondary) === true
    return single ? `${primary} ${secondary}` : `${alike.kindOf(primary)}:${alike.kindOf(secondary)}`
  }
}

const later = (one: Placed, other: Placed): number => other.primary - one.primary || other.secondary - one.secondary
