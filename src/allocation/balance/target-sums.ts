// The least change of the score by each target that gets an instance, without the part of the instance's own nodes.
// Spreads for which instances ask the same amount are combined: each set has a linear and a square part.
import { TOGETHER, unitsOf } from './bound-columns'
import { type ClusterModel, Col } from '../model/cluster-model'
import type { Drift } from './bound-drift'
import { CONTRIBUTION, RESERVED, RESERVED_WEIGHT, SPREAD_COUNT, type Score } from '../model/score'

/** The combined sets of spreads, and each remaining spread alone. */
const SETS: readonly (readonly number[])[] = [...TOGETHER, ...Array.from({ length: SPREAD_COUNT }, (_, k) => [k])]
const RESERVED_SET = TOGETHER.length + RESERVED

/** Demands of instances of a size on a target. */
export interface Asking {
  /** A sequential number. */
  readonly id: number
  readonly sets: Int32Array
  /** By index in `sets`. */
  readonly amounts: Float64Array
  readonly counted: number
  readonly reserve: number
}

export class TargetSums {
  private readonly used = new Set([RESERVED_SET])
  private readonly askings: Asking[] = []
  /** By asking: its amount for every set. */
  private asked: Float64Array | undefined
  private readonly count: number
  private readonly failing: Float64Array
  /** Memory that each target already keeps. */
  private readonly spare: Float64Array
  /** By set and target. */
  private readonly linear: Float64Array
  private readonly square: Float64Array
  /** By set: the most by which the last step lowered any target. */
  private readonly linearDrops = new Float64Array(SETS.length)
  private readonly squareDrops = new Float64Array(SETS.length)
  private readonly before: Float64Array
  /** By spread and target. */
  private readonly units: Float64Array

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    private readonly targets: readonly number[],
    private readonly drift: Drift,
  ) {
    const count = (this.count = targets.length)
    this.failing = new Float64Array(count)
    this.spare = new Float64Array(count)
    this.before = new Float64Array(count)
    this.linear = new Float64Array(SETS.length * count)
    this.square = new Float64Array(SETS.length * count)
    this.units = new Float64Array(SPREAD_COUNT * count)
    targets.forEach((node, place) => {
      const facts = model.nodes[node]
      if (facts !== undefined) unitsOf(facts).forEach((unit, k) => (this.units[k * count + place] = unit))
    })
  }

  asking(amounts: readonly number[], counted: number): Asking {
    const left = new Set([...amounts.keys()].filter((k) => amounts[k] !== 0 && k !== RESERVED))
    const sets: number[] = []
    SETS.forEach((spreads, set) => {
      if (!spreads.every((k) => left.has(k) && amounts[k] === amounts[spreads[0] ?? 0])) return
      sets.push(set)
      this.used.add(set)
      for (const k of spreads) left.delete(k)
    })
    const asking = {
      id: this.askings.length,
      sets: Int32Array.from(sets),
      amounts: Float64Array.from(sets, (set) => amounts[SETS[set]?.[0] ?? 0] ?? 0),
      counted,
      reserve: amounts[RESERVED] ?? 0,
    }
    this.askings.push(asking)
    return asking
  }

  /** Updates after a step that changed the targets at these indexes: score and slopes are new. */
  follow(changed: readonly number[]): void {
    const { model, targets, failing, spare, linear, square, linearDrops, squareDrops } = this
    for (let at = 0; at < targets.length; at++) {
      const row = (targets[at] ?? 0) * Col.Width
      failing[at] = model.rows[row + Col.FailsN1] ?? 0
      spare[at] = model.rows[row + Col.Reserved] ?? 0
    }
    for (const set of this.used) {
      linearDrops[set] = this.dropped(linear, set, changed, this.addLinear)
      squareDrops[set] = this.dropped(square, set, changed, this.addSquare)
    }
  }

  at(place: number, { sets, amounts, counted, reserve }: Asking): number {
    const { linear, square, count } = this
    let sum = counted * (this.failing[place] ?? 0)
    for (let i = 0; i < sets.length; i++) {
      const amount = amounts[i] ?? 0
      const at = (sets[i] ?? 0) * count + place
      sum += amount * ((linear[at] ?? 0) + amount * (square[at] ?? 0))
    }
    return reserve === 0 ? sum : sum + this.ofReserve(place, reserve)
  }

  /** Computes the sum of each target. Returns the index of the least. */
  fill({ sets, amounts, counted, reserve }: Asking, sums: Float64Array): number {
    const { failing, linear, square, count } = this
    for (let place = 0; place < count; place++) sums[place] = counted * (failing[place] ?? 0)
    // Two sets at once, so that the sums are traversed half as often.
    for (let i = 0; i < sets.length; i += 2) {
      const [one, other = RESERVED_SET] = [sets[i] ?? 0, sets[i + 1]]
      addParts(sums, linear, square, one * count, amounts[i] ?? 0, other * count, amounts[i + 1] ?? 0)
    }
    if (reserve !== 0) this.addReserve(sums, reserve)
    let [found, least] = [-1, Infinity]
    for (let place = 0; place < count; place++) {
      const sum = sums[place] ?? 0
      if (sum >= least) continue
      found = place
      least = sum
    }
    return found
  }

  /** By asking: the least that a changed target adds, and the most by which the last step lowered the others. */
  leastOfChanged(changed: readonly number[], near: Float64Array, drops: Float64Array): void {
    const { askings, linear, square, linearDrops, squareDrops, count } = this
    const requested = (this.asked ??= amountsOf(askings))
    near.fill(Infinity)
    drops.fill(0)
    for (const set of this.used) addAmounts(drops, requested, set, linearDrops[set] ?? 0, squareDrops[set] ?? 0)
    const sums = new Float64Array(askings.length)
    for (const place of changed) {
      sums.fill(0)
      for (const set of this.used) {
        const at = set * count + place
        if (set !== RESERVED_SET) addAmounts(sums, requested, set, linear[at] ?? 0, square[at] ?? 0)
      }
      const failing = this.failing[place] ?? 0
      for (let id = 0; id < sums.length; id++) {
        const reserve = requested[RESERVED_SET * sums.length + id] ?? 0
        let sum = (sums[id] ?? 0) + failing * (requested[SETS.length * sums.length + id] ?? 0)
        if (reserve !== 0) sum += this.ofReserve(place, reserve)
        if (sum < (near[id] ?? 0)) near[id] = sum
      }
    }
  }

  /** The target's sum if it keeps this much memory for one primary, for which it may already keep some. */
  ofReserve(place: number, reserve: number, kept?: number): number {
    const at = RESERVED_SET * this.count + place
    const [linear, square] = [this.linear[at] ?? 0, this.square[at] ?? 0]
    // If the kept amount is unknown, the memory grows by anything from the part beyond the target's spare up to all of
    // it.
    const least = Math.max(0, reserve - (this.spare[place] ?? 0) + (kept ?? 0))
    const atLeast = least * (linear + least * square)
    if (kept !== undefined || (linear >= 0 && square >= 0)) return atLeast
    const lowest = square > 0 ? Math.min(reserve, Math.max(least, -linear / (2 * square))) : reserve
    return Math.min(atLeast, lowest * (linear + lowest * square), reserve * (linear + reserve * square))
  }

  private addReserve(sums: Float64Array, reserve: number): void {
    const { linear, square, spare } = this
    const from = RESERVED_SET * this.count
    for (let place = 0; place < sums.length; place++) {
      const [byOne, bySquare] = [linear[from + place] ?? 0, square[from + place] ?? 0]
      const more = reserve - (spare[place] ?? 0)
      // Most targets need no more memory than before, and keeping more never helps.
      if (byOne < 0 || bySquare < 0) sums[place] = (sums[place] ?? 0) + this.ofReserve(place, reserve)
      else if (more > 0) sums[place] = (sums[place] ?? 0) + more * (byOne + more * bySquare)
    }
  }

  /** Recomputes the sums of a set. Returns the most by which an unchanged target's sum is lower. */
  private dropped(
    sums: Float64Array,
    set: number,
    changed: readonly number[],
    add: (out: Float64Array, from: number, k: number) => void,
  ): number {
    const { before, count } = this
    const from = set * count
    for (let place = 0; place < count; place++) {
      before[place] = sums[from + place] ?? 0
      sums[from + place] = 0
    }
    for (const k of SETS[set] ?? []) add(sums, from, k)
    for (const place of changed) before[place] = -Infinity
    let most = 0
    for (let place = 0; place < count; place++) {
      const drop = (before[place] ?? 0) - (sums[from + place] ?? 0)
      if (drop > most) most = drop
    }
    return most
  }

  private readonly addLinear = (out: Float64Array, from: number, k: number): void => {
    const { targets, units, count } = this
    const { contributions } = this.score
    const slope = this.drift.slopes[k] ?? 0
    const weight = k === RESERVED ? RESERVED_WEIGHT : 0
    for (let place = 0; place < count; place++) {
      const distance = contributions[(targets[place] ?? 0) * CONTRIBUTION + k] ?? 0
      const at = from + place
      out[at] = (out[at] ?? 0) + (units[k * count + place] ?? 0) * (weight + slope * 2 * distance)
    }
  }

  private readonly addSquare = (out: Float64Array, from: number, k: number): void => {
    const { targets, units, count } = this
    const { contributions } = this.score
    const [slope, bend, most] = [this.drift.slopes[k] ?? 0, this.drift.bends[k] ?? 0, this.drift.most[k] ?? 0]
    for (let place = 0; place < count; place++) {
      const unit = units[k * count + place] ?? 0
      const distance = 2 * (contributions[(targets[place] ?? 0) * CONTRIBUTION + k] ?? 0)
      const far = Math.max(Math.abs(distance), Math.abs(distance + unit * most))
      const at = from + place
      out[at] = (out[at] ?? 0) + unit * unit * (slope - bend * far * far)
    }
  }
}

/** Adds the parts of two sets to the sums at these indexes. */
function addParts(
  sums: Float64Array,
  linear: Float64Array,
  square: Float64Array,
  from: number,
  amount: number,
  otherFrom: number,
  other: number,
): void {
  for (let place = 0; place < sums.length; place++) {
    const [at, otherAt] = [from + place, otherFrom + place]
    sums[place] =
      (sums[place] ?? 0) +
      amount * ((linear[at] ?? 0) + amount * (square[at] ?? 0)) +
      other * ((linear[otherAt] ?? 0) + other * (square[otherAt] ?? 0))
  }
}

/** By asking, adds these parts for its amount of the set. */
function addAmounts(sums: Float64Array, requested: Float64Array, set: number, linear: number, square: number): void {
  const from = set * sums.length
  for (let id = 0; id < sums.length; id++) {
    const amount = requested[from + id] ?? 0
    sums[id] = (sums[id] ?? 0) + amount * (linear + amount * square)
  }
}

/** By set and asking. After the sets: whether an asking is counted. */
function amountsOf(askings: readonly Asking[]): Float64Array {
  const requested = new Float64Array((SETS.length + 1) * askings.length)
  for (const { id, sets, amounts, counted, reserve } of askings) {
    sets.forEach((set, i) => (requested[set * askings.length + id] = amounts[i] ?? 0))
    requested[RESERVED_SET * askings.length + id] = reserve
    requested[SETS.length * askings.length + id] = counted
  }
  return requested
}

export const NO_AMOUNTS: readonly number[] = Array<number>(SPREAD_COUNT).fill(0)
