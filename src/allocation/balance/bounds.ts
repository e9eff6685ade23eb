// Finds the targets of a move that are worth trying: for each target, a score below which the move cannot get. This
// costs a fraction of a trial. A spread is the root of a variance, and so a concave function of the sum of squares.
// Over an interval it lies above any line that is below it at both ends. All moves of a step use the same slopes. So a
// target adds its amount times one column, plus the squared amount times another; everything else is a constant of the
// move.
import { Columns, RANGE } from './bound-columns'
import type { Asked } from './bound-columns'
import { Role, asPrimary, asSecondary } from './bound-roles'
import type { ClusterModel, InstanceFacts } from '../model/cluster-model'
import { CONTRIBUTION, LOST, NO_DIFFERENCE, RESERVED, SPREAD_COUNT, type Score, WEIGHTS } from '../model/score'

/** The rounding error of the bounds themselves. */
export const SLACK = 1e-9

/** The effects of a kind of move, except those on its target. */
export interface Source {
  /** As `Score.difference` writes them. */
  readonly differences: readonly [] | readonly [Float64Array] | readonly [Float64Array, Float64Array]
  /** The least change of the linear part; Infinity if the move is impossible with every target. */
  readonly linear: number
  /** If the target is one of its peers, the last difference's node may have to keep this much more memory free. */
  readonly reservedAlso?: { readonly node: number; readonly more: number }
}

/**
 * For the target at index `j` the score is at least `constant + asked.values[j]`. For special nodes it may be less, by
 * `change`.
 */
export interface Floor {
  readonly constant: number
  readonly leastChange: number
}

export class Bounds {
  /** False if the cluster has something that these bounds do not cover. */
  readonly usable: boolean
  private readonly columns: Columns
  private readonly primary: Role
  private readonly secondary: Role
  private readonly places: Int32Array

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    targets: readonly number[],
  ) {
    this.columns = new Columns(model, score, targets)
    this.primary = new Role(this.columns, targets.length, asPrimary)
    this.secondary = new Role(this.columns, targets.length, asSecondary)
    this.usable = this.columns.finite() && targets.every((node) => !model.nodes[node]?.data.exclusiveStorage)
    this.places = new Int32Array(model.nodes.length).fill(-1)
    targets.forEach((node, at) => (this.places[node] = at))
  }

  asked(asPrimary: boolean, instance: number, facts: InstanceFacts): Asked {
    return asPrimary ? this.primary.of(instance, facts) : this.secondary.of(instance, facts)
  }

  floor(source: Source, asPrimary: boolean, requested: Asked): Floor {
    if (source.linear === Infinity) return { constant: Infinity, leastChange: 0 }
    const constant = this.constant(source, requested.ranges, NOTHING_ALSO)
    if (!asPrimary) {
      const none = requested.reserve === 0 || this.columns.reservingCosts
      return { constant, leastChange: none ? 0 : -Infinity }
    }
    if (source.reservedAlso === undefined) return { constant, leastChange: 0 }
    return {
      constant,
      leastChange: Math.min(
        0,
        this.constant(source, requested.ranges, reservedAlso(source, this.model, this.score)) - constant,
      ),
    }
  }

  /** The change for a target that already keeps this much memory for its new primary. */
  changeWith(kept: number, place: number, { reserve }: Asked): number {
    return this.columns.ofReserve(place, reserve + kept) - this.columns.ofReserve(place, reserve)
  }

  /** The node's index among the targets. */
  placeOf(node: number): number | undefined {
    const place = this.places[node] ?? -1
    return place === -1 ? undefined : place
  }

  private constant(source: Source, ranges: Float64Array, reserved: Also): number {
    const { squares, remainders, online } = this.score
    const { slopes } = this.columns
    let sum = this.score.linearPart() + source.linear - SLACK
    const [one = NO_DIFFERENCE, two = NO_DIFFERENCE] = source.differences
    for (let k = 0; k < SPREAD_COUNT; k++) {
      const shift = (remainders[k] ?? 0) + (one[k] ?? 0) + (two[k] ?? 0)
      const j = k + SPREAD_COUNT
      let base = (squares[k] ?? 0) + (one[j] ?? 0) + (two[j] ?? 0)
      const at = k * RANGE.width
      const least = shift + (ranges[at + RANGE.least] ?? 0)
      let most = shift + (ranges[at + RANGE.most] ?? 0)
      if (k === RESERVED) {
        base += reserved.squares
        most += reserved.shift
      }
      const low = ranges[at + RANGE.low] ?? 0
      const high = ranges[at + RANGE.high] ?? 0
      const lost = LOST * ((squares[k] ?? 0) + base + Math.abs(high))
      base -= Math.max(least * least, most * most) / online + lost
      const weight = WEIGHTS[k] ?? 0
      const slope = slopes[k] ?? 0
      const atHigh = weight * Math.sqrt(Math.max(0, (base + high) / online))
      if (low === high) sum += atHigh - slope * high
      else if (base + low >= 0) {
        sum += Math.min(weight * Math.sqrt((base + low) / online) - slope * low, atHigh - slope * high)
      } else {
        // Below 0 the root is cut off, so nothing is known about the interval.
        sum += Math.min(-slope * low, atHigh - slope * high) - atHigh
      }
    }
    return sum
  }
}

/** The least that the squares become, and the most that the sum becomes, if the node keeps more memory free. */
function reservedAlso({ reservedAlso, differences }: Source, model: ClusterModel, score: Score): Also {
  if (reservedAlso === undefined || model.nodes[reservedAlso.node]?.offline) return NOTHING_ALSO
  const { node } = reservedAlso
  const shift = reservedAlso.more / (model.nodes[node]?.data.totalMemory ?? 1)
  const distance = score.contributions[node * CONTRIBUTION + RESERVED] ?? 0
  const now = distance + (differences.at(-1)?.[RESERVED] ?? 0)
  const nearest = now >= 0 ? now : Math.min(0, now + shift)
  return { squares: nearest * nearest - now * now, most: shift * (2 * now + shift), shift }
}

interface Also {
  readonly squares: number
  readonly most: number
  readonly shift: number
}

const NOTHING_ALSO: Also = { squares: 0, most: 0, shift: 0 }
