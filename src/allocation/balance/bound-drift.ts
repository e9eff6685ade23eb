// How much a step changes the gains of unrelated moves. A spread is the root of a sum of squares. When the sum falls,
// its slope grows, and every move that lowers the sum gains more. Also: how far the root may be from the line that
// replaces it.
import { unitsOf } from './bound-columns'
import type { ClusterModel } from '../model/cluster-model'
import { CONTRIBUTION, SPREAD_COUNT, type Score, WEIGHTS } from '../model/score'

export class Drift {
  /** By spread: how much the score changes for each unit of the sum of squares. */
  readonly slopes = new Float64Array(SPREAD_COUNT)
  /** By spread: what the last step may have changed, for each unit of an amount that moves between nodes. */
  readonly losses = new Float64Array(SPREAD_COUNT)
  /**
   * By spread: how far the root may be below the line, for each unit of the target's squared change, and the same again
   * for the sources'.
   */
  readonly bends = new Float64Array(SPREAD_COUNT)
  /** How far all spreads together may be below that in addition: spreads near zero have no line. */
  fixed = 0
  /** By spread: the least and the greatest effect of a unit on a node. */
  readonly lowest = new Float64Array(SPREAD_COUNT).fill(Infinity)
  readonly highest = new Float64Array(SPREAD_COUNT).fill(-Infinity)
  private readonly squares = new Float64Array(SPREAD_COUNT)
  private readonly means = new Float64Array(SPREAD_COUNT)
  private readonly ranges = new Float64Array(SPREAD_COUNT)

  constructor(
    model: ClusterModel,
    private readonly score: Score,
    private readonly nodes: readonly number[],
    /** By spread: the largest amount of any instance. */
    readonly most: Float64Array,
  ) {
    for (const node of nodes) {
      const facts = model.nodes[node]
      if (facts === undefined) continue
      unitsOf(facts).forEach((unit, k) => {
        this.lowest[k] = Math.min(this.lowest[k] ?? 0, unit)
        this.highest[k] = Math.max(this.highest[k] ?? 0, unit)
      })
    }
  }

  follow(): void {
    this.fixed = 0
    for (let k = 0; k < SPREAD_COUNT; k++) if (this.most[k] !== 0) this.followOne(k)
  }

  private followOne(k: number): void {
    const { score, slopes, squares, means, ranges, bends } = this
    const [before, after] = [squares[k] ?? 0, score.squares[k] ?? 0]
    const [was, slope] = [slopes[k] ?? 0, this.slopeAt(k, after)]
    const shift = Math.abs((score.means[k] ?? 0) - (means[k] ?? 0))
    const range = this.range(k)
    const unit = Math.max(Math.abs(this.lowest[k] ?? 0), Math.abs(this.highest[k] ?? 0))
    const largest = (this.most[k] ?? 0) * unit
    // The mean moves too, by at most the two amounts of a mirrored instance.
    const mean = (4 * largest * largest) / score.online
    const bend = this.bend(2 * largest * (range + largest) + mean, after, slope)
    if (slope === 0) this.fixed += this.rootAt(k, after)
    // The most by which moving the largest amount can change the sum of squares, and the largest change per unit by any
    // move.
    const wide = Math.max(range, ranges[k] ?? 0)
    const taken = 2 * largest * wide + (largest * largest) / score.online
    const added = 2 * largest * (wide + largest)
    const each = 2 * unit * (wide + largest)
    if (before === after && shift === 0) this.losses[k] = 0
    else if (Math.min(before, after) <= taken) this.losses[k] = Infinity
    else {
      const turned = Math.max(
        ...[-taken, added].map((by) => Math.abs(this.chord(k, after, by) - this.chord(k, before, by))),
      )
      const more = Math.max(0, bend - (bends[k] ?? 0)) * each + Math.max(0, slope - was) / score.online
      this.losses[k] = (turned + more * largest) * each + 2 * this.slopeAt(k, after - taken) * shift * unit
    }
    slopes[k] = slope
    squares[k] = after
    means[k] = score.means[k] ?? 0
    ranges[k] = range
    bends[k] = bend
  }

  /** The change of the score per unit, when the sum of squares changes by this much. */
  private chord(k: number, squares: number, by: number): number {
    return (this.rootAt(k, squares + by) - this.rootAt(k, squares)) / by
  }

  private rootAt(k: number, squares: number): number {
    return (WEIGHTS[k] ?? 0) * Math.sqrt(Math.max(0, squares) / this.score.online)
  }

  private slopeAt(k: number, squares: number): number {
    return squares < NOTHING ? 0 : this.rootAt(k, squares) / (2 * squares)
  }

  /** `change`: the largest one. The square of a sum is at most twice the sum of the squares. */
  private bend(change: number, squares: number, slope: number): number {
    if (slope === 0) return 0
    const part = Math.min(1, change / squares)
    const bent = part < 1e-3 ? 0.126 : (1 - part / 2 - Math.sqrt(1 - part)) / part / part
    return (4 * bent * slope) / squares
  }

  /** From the lowest to the highest value. */
  private range(k: number): number {
    const { contributions } = this.score
    let [lowest, highest] = [0, 0]
    for (const node of this.nodes) {
      const distance = contributions[node * CONTRIBUTION + k] ?? 0
      if (distance < lowest) lowest = distance
      else if (distance > highest) highest = distance
    }
    return highest - lowest
  }
}

/** Smaller sums of squares count as 0. */
const NOTHING = 1e-12
