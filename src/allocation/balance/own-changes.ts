// The effect of each kind of move of an instance on the instance's own nodes. It holds until one of these nodes
// changes. So every step can weigh the least change of a move from these numbers, without trying the move.
import { NO_NODE } from '../model/cluster-data'
import type { ClusterModel } from '../model/cluster-model'
import type { Drift } from './bound-drift'
import { CONTRIBUTION, NO_DIFFERENCE, RESERVED, SPREAD_COUNT, type Score } from '../model/score'

/** Kinds of moves of one instance. */
const PLACES = 5
/** True: the first difference is the primary's, the second the secondary's. False: the other way round. */
const FROM_PRIMARY = [false, true, false, false, true]
/** Indexes of a move's stored values, after both differences. */
const LINEAR = 2 * SPREAD_COUNT
const MORE = LINEAR + 1
const WIDTH = LINEAR + 2

export interface OwnChange {
  /** As `Score.difference` writes them. */
  readonly differences: readonly Float64Array[]
  readonly linear: number
  /** The second difference's node may have to keep this much more memory free. */
  readonly more: number
}

export class OwnChanges {
  private readonly kept: Float64Array

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    private readonly drift: Drift,
  ) {
    this.kept = new Float64Array(model.instances.length * PLACES * WIDTH)
    this.kept.fill(Infinity)
  }

  /** Marks the instance as without moves. */
  clear(instance: number): void {
    for (let place = 0; place < PLACES; place++) this.kept[(instance * PLACES + place) * WIDTH + LINEAR] = Infinity
  }

  keep(instance: number, place: number, { differences, linear, more }: OwnChange): void {
    const { kept, model } = this
    const from = (instance * PLACES + place) * WIDTH
    const [first = NO_DIFFERENCE, second = NO_DIFFERENCE] = differences
    for (let k = 0; k < SPREAD_COUNT; k++) {
      kept[from + k] = first[k] ?? 0
      kept[from + SPREAD_COUNT + k] = second[k] ?? 0
    }
    kept[from + LINEAR] = linear
    const own = (FROM_PRIMARY[place] === true ? model.secondary : model.primary)[instance] ?? NO_NODE
    const facts = model.nodes[own]
    kept[from + MORE] = facts === undefined || facts.offline ? 0 : more / facts.data.totalMemory
  }

  /**
   * The least change by the move when a target gets these amounts, without the target's own: along the lines of the
   * spreads, minus their distance from the roots.
   */
  weigh(instance: number, place: number, amounts: Float64Array): number {
    const { kept, model, drift } = this
    const { contributions, online } = this.score
    const { slopes, bends, lowest, highest } = drift
    const from = (instance * PLACES + place) * WIDTH
    let sum = (kept[from + LINEAR] ?? 0) - drift.fixed - ROUNDED
    if (sum === Infinity) return sum
    const [primary, secondary] = [model.primary[instance] ?? 0, Math.max(0, model.secondary[instance] ?? 0)]
    const byPrimary = FROM_PRIMARY[place] === true
    const firstAt = (byPrimary ? primary : secondary) * CONTRIBUTION
    const secondAt = (byPrimary ? secondary : primary) * CONTRIBUTION
    for (let k = 0; k < SPREAD_COUNT; k++) {
      const slope = slopes[k] ?? 0
      if (slope === 0) continue
      const [one, two] = [kept[from + k] ?? 0, kept[from + SPREAD_COUNT + k] ?? 0]
      const now = contributions[secondAt + k] ?? 0
      const change = one * (2 * (contributions[firstAt + k] ?? 0) + one) + two * (2 * now + two)
      const amount = amounts[k] ?? 0
      let least = one + two
      let most = least + amount * (highest[k] ?? 0)
      let squares = change
      let furthest = Math.abs(change)
      if (k === RESERVED) {
        const more = kept[from + MORE] ?? 0
        const distance = now + two
        const nearest = distance >= 0 ? distance : Math.min(0, distance + more)
        squares += nearest * nearest - distance * distance
        most += more
        furthest = Math.max(furthest, Math.abs(squares), Math.abs(change + more * (2 * distance + more)))
      } else least += amount * (lowest[k] ?? 0)
      const mean = Math.max(least * least, most * most) / online
      sum += slope * (squares - mean) - (bends[k] ?? 0) * (furthest + mean) ** 2
    }
    return sum
  }
}

const ROUNDED = 1e-11
