// What each target adds to the score at the least when it gets an instance, as far as that does not depend on the instance's own nodes.
// Spreads of which instances ask the same amount go together: the sum of a linear and a square part for each of them.
import { TOGETHER, unitsOf } from './bound-columns'
import { type ClusterModel, Col } from './cluster-model'
import type { Drift } from './drift'
import { CONTRIBUTION, RESERVED, RESERVED_WEIGHT, SPREAD_COUNT, type Score } from './score'

interface Together {
  readonly spreads: readonly number[]
  /** By place of the target. */
  readonly linear: Float64Array
  readonly square: Float64Array
  /** By how much the last step has lowered any of them at the most. */
  linearDrop: number
  squareDrop: number
}

/** What instances of a size ask of a target. */
export interface Asking {
  readonly parts: readonly Together[]
  readonly amounts: readonly number[]
  readonly counted: number
  readonly reserve: number
}

export class TargetSums {
  private readonly sets = new Map<string, Together>()
  private readonly reserved: Together
  private readonly failing: Float64Array
  private readonly sums: Float64Array
  private readonly linear: Float64Array
  private readonly square: Float64Array
  private readonly units: readonly Float64Array[]

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    private readonly targets: readonly number[],
    private readonly drift: Drift,
  ) {
    this.failing = new Float64Array(targets.length)
    this.sums = new Float64Array(targets.length)
    this.linear = new Float64Array(targets.length)
    this.square = new Float64Array(targets.length)
    this.units = targets.map((node) => {
      const facts = model.nodes[node]
      return Float64Array.from(facts === undefined ? [] : unitsOf(facts))
    })
    this.reserved = this.set([RESERVED])
  }

  asking(amounts: readonly number[], counted: number): Asking {
    const single = new Set([...amounts.keys()].filter((k) => amounts[k] !== 0 && k !== RESERVED))
    const parts: (readonly number[])[] = []
    for (const spreads of TOGETHER) {
      if (!spreads.every((k) => single.has(k) && amounts[k] === amounts[spreads[0] ?? 0])) continue
      parts.push(spreads)
      for (const k of spreads) single.delete(k)
    }
    for (const k of single) parts.push([k])
    return {
      parts: parts.map((spreads) => this.set(spreads)),
      amounts: parts.map(([k = 0]) => amounts[k] ?? 0),
      counted,
      reserve: amounts[RESERVED] ?? 0,
    }
  }

  /** The score and the slopes are those of another step, which has changed the targets at these places. */
  follow(changed: readonly number[]): void {
    const { model, targets, failing } = this
    for (let at = 0; at < targets.length; at++)
      failing[at] = model.rows[(targets[at] ?? 0) * Col.Width + Col.FailsN1] ?? 0
    for (const set of this.sets.values()) {
      this.linear.set(set.linear)
      this.square.set(set.square)
      set.linear.fill(0)
      set.square.fill(0)
      for (const k of set.spreads) this.addTo(set, k)
      set.linearDrop = mostDropped(this.linear, set.linear, changed)
      set.squareDrop = mostDropped(this.square, set.square, changed)
    }
  }

  at(place: number, { parts, amounts, counted, reserve }: Asking): number {
    let sum = counted * (this.failing[place] ?? 0)
    for (let at = 0; at < parts.length; at++) {
      const amount = amounts[at] ?? 0
      const part = parts[at]
      if (part !== undefined) sum += amount * ((part.linear[place] ?? 0) + amount * (part.square[place] ?? 0))
    }
    return reserve === 0 ? sum : sum + this.ofReserve(place, reserve)
  }

  /** The place of the target that adds least. */
  leastAt({ parts, amounts, counted, reserve }: Asking): number {
    const { sums, failing } = this
    for (let place = 0; place < sums.length; place++) sums[place] = counted * (failing[place] ?? 0)
    for (let at = 0; at < parts.length; at++) addPart(sums, parts[at], amounts[at] ?? 0)
    let [found, least] = [-1, Infinity]
    for (let place = 0; place < sums.length; place++) {
      const sum = reserve === 0 ? (sums[place] ?? 0) : (sums[place] ?? 0) + this.ofReserve(place, reserve)
      if (sum >= least) continue
      found = place
      least = sum
    }
    return found
  }

  /** What the last step took from the least of all targets that it has not changed, at the most. */
  drop({ parts, amounts, reserve }: Asking): number {
    let sum = dropOf(this.reserved, reserve)
    for (let at = 0; at < parts.length; at++) {
      const part = parts[at]
      if (part !== undefined) sum += dropOf(part, amounts[at] ?? 0)
    }
    return sum
  }

  /** The memory that is kept grows by anything up to this. */
  private ofReserve(place: number, reserve: number): number {
    const [linear, square] = [this.reserved.linear[place] ?? 0, this.reserved.square[place] ?? 0]
    const lowest = square > 0 ? Math.min(reserve, Math.max(0, -linear / (2 * square))) : reserve
    return Math.min(0, lowest * (linear + lowest * square), reserve * (linear + reserve * square))
  }

  private set(spreads: readonly number[]): Together {
    const key = spreads.join()
    const count = this.targets.length
    const found = this.sets.get(key) ?? {
      spreads,
      linear: new Float64Array(count),
      square: new Float64Array(count),
      linearDrop: 0,
      squareDrop: 0,
    }
    this.sets.set(key, found)
    return found
  }

  private addTo({ linear, square }: Together, k: number): void {
    const { targets, units, score } = this
    const { slopes, bends, most } = this.drift
    const [slope, bend] = [slopes[k] ?? 0, bends[k] ?? 0]
    const weight = k === RESERVED ? RESERVED_WEIGHT : 0
    for (let at = 0; at < targets.length; at++) {
      const unit = units[at]?.[k] ?? 0
      const distance = 2 * (score.contributions[(targets[at] ?? 0) * CONTRIBUTION + k] ?? 0)
      const far = Math.max(Math.abs(distance), Math.abs(distance + unit * (most[k] ?? 0)))
      linear[at] = (linear[at] ?? 0) + unit * (weight + slope * distance)
      square[at] = (square[at] ?? 0) + unit * unit * (slope - bend * far * far)
    }
  }
}

const dropOf = ({ linearDrop, squareDrop }: Together, amount: number): number =>
  amount * (linearDrop + amount * squareDrop)

function mostDropped(before: Float64Array, after: Float64Array, changed: readonly number[]): number {
  for (const place of changed) before[place] = after[place] ?? 0
  let most = 0
  for (let place = 0; place < after.length; place++) {
    const drop = (before[place] ?? 0) - (after[place] ?? 0)
    if (drop > most) most = drop
  }
  return most
}

function addPart(sums: Float64Array, part: Together | undefined, amount: number): void {
  if (part === undefined) return
  const { linear, square } = part
  for (let place = 0; place < sums.length; place++) {
    sums[place] = (sums[place] ?? 0) + amount * ((linear[place] ?? 0) + amount * (square[place] ?? 0))
  }
}

export const NO_AMOUNTS: readonly number[] = Array<number>(SPREAD_COUNT).fill(0)
