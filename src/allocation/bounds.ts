// Which targets of a move are worth trying: for each a score that the move cannot fall below, for a fraction of what trying costs.
// A spread is the root of a variance, which is a concave function of the sum of squares: over an interval it lies above any line that
// is not above it at both ends. With the same slopes for all moves of a step, what a target adds is the amount that it gets times one
// column plus the amount's square times another; all that the move does besides is a constant.
import { Columns, RANGE } from './bound-columns'
import { type Asked, Role, asPrimary, asSecondary } from './bound-roles'
import type { ClusterModel, InstanceFacts } from './cluster-model'
import { CONTRIBUTION, RESERVED, SPREAD_COUNT, type Score, WEIGHTS } from './score'

/** Rounding of the bounds themselves. */
const SLACK = 1e-9

/** What a kind of move does besides what it does to its target. */
export interface Source {
  /** As `Score.difference` writes them. */
  readonly differences: readonly Float64Array[]
  /** At least this much is added to the linear part. */
  readonly linear: number
  /** The node of the last difference may have to keep this much more memory free than that says, for targets that are its peers. */
  readonly reservedAlso?: { readonly node: number; readonly more: number }
}

/** For the target at place `j` the score is at least `constant + asked.values[j]`; for special nodes something is to be added. */
export interface Bound {
  readonly constant: number
  readonly asked: Asked
  readonly special: Iterable<number>
  readonly change: (place: number, node: number) => number
}

export class Bounds {
  /** False when a cluster has what these bounds do not cover. */
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

  /** Of moves that make the target the primary. */
  ofPrimary(source: Source, instance: number, facts: InstanceFacts): Bound {
    const asked = this.primary.of(instance, facts)
    const constant = this.constant(source, asked.ranges, NOTHING_ALSO)
    const { reservedAlso } = source
    if (reservedAlso === undefined) return { constant, asked, special: [], change: nothing }
    const change = this.constant(source, asked.ranges, this.reservedAlso(source)) - constant
    const peers = change < 0 ? this.model.peers[reservedAlso.node]?.keys() : undefined
    return { constant, asked, special: peers ?? [], change: () => change }
  }

  /** Of moves that make the target the secondary of an instance on `primary`. */
  ofSecondary(source: Source, instance: number, facts: InstanceFacts, primary: number): Bound {
    const asked = this.secondary.of(instance, facts)
    const constant = this.constant(source, asked.ranges, NOTHING_ALSO)
    const { reserve } = asked
    const special = reserve === 0 ? undefined : this.model.served[primary]
    const change = (place: number, node: number) => {
      const kept = this.model.peers[node]?.get(primary) ?? 0
      return this.columns.ofReserve(place, reserve + kept) - this.columns.ofReserve(place, reserve)
    }
    return { constant, asked, special: special ?? [], change }
  }

  /** The node's place among the targets. */
  placeOf(node: number): number | undefined {
    const place = this.places[node] ?? -1
    return place === -1 ? undefined : place
  }

  private constant(source: Source, ranges: Float64Array, reserved: Also): number {
    const { squares, online } = this.score
    const { slopes } = this.columns
    let sum = this.score.linearPart() + source.linear - SLACK
    for (let k = 0; k < SPREAD_COUNT; k++) {
      let [base, shift] = [squares[k] ?? 0, 0]
      for (const one of source.differences) {
        base += one[k + SPREAD_COUNT] ?? 0
        shift += one[k] ?? 0
      }
      const at = k * RANGE.width
      const least = shift + (ranges[at + RANGE.least] ?? 0)
      let most = shift + (ranges[at + RANGE.most] ?? 0)
      if (k === RESERVED) {
        base += reserved.squares
        most += reserved.shift
      }
      base -= Math.max(least * least, most * most) / online
      const [low, high] = [ranges[at + RANGE.low] ?? 0, ranges[at + RANGE.high] ?? 0]
      const [weight, slope] = [WEIGHTS[k] ?? 0, slopes[k] ?? 0]
      const atHigh = weight * Math.sqrt(Math.max(0, (base + high) / online))
      if (low === high) sum += atHigh - slope * high
      else if (base + low >= 0) {
        sum += Math.min(weight * Math.sqrt((base + low) / online) - slope * low, atHigh - slope * high)
      } else {
        // Below 0 the root is cut off, and nothing is known of what lies between.
        sum += Math.min(-slope * low, atHigh - slope * high) - atHigh
      }
    }
    return sum
  }

  /** The least that the squares become, and the most that the sum does, when the node keeps more memory free. */
  private reservedAlso({ reservedAlso, differences }: Source): Also {
    if (reservedAlso === undefined || this.model.nodes[reservedAlso.node]?.offline) return NOTHING_ALSO
    const { node } = reservedAlso
    const shift = reservedAlso.more / (this.model.nodes[node]?.data.totalMemory ?? 1)
    const distance = this.score.contributions[node * CONTRIBUTION + RESERVED] ?? 0
    const now = distance + (differences.at(-1)?.[RESERVED] ?? 0)
    const nearest = now >= 0 ? now : Math.min(0, now + shift)
    return { squares: nearest * nearest - now * now, shift }
  }
}

interface Also {
  readonly squares: number
  readonly shift: number
}

const NOTHING_ALSO: Also = { squares: 0, shift: 0 }
const nothing = () => 0
