// For the bounds of each target: the effect of one unit of each resource, and of an instance of a given size. Computed
// once per step.
import { type ClusterModel, Col, type NodeFacts } from '../model/cluster-model'
import { CONTRIBUTION, RESERVED, RESERVED_WEIGHT, SPREAD_COUNT, type Score, WEIGHTS } from '../model/score'

/**
 * Columns for which most instances ask the same amount: a resource with and without forthcoming instances, and the
 * loads.
 */
export const TOGETHER: readonly (readonly number[])[] = [
  [0, 9],
  [1, 10],
  [3, 11],
  [8, 12],
  [4, 5, 6, 7],
]
/** A target has less of these after it gets an instance, and more of all others. */
const FREE = [0, 1, 9, 10]
/**
 * Targets that are further from the mean than this, in units of the spread, count as if at this distance: a line over a
 * shorter interval is closer to the root.
 */
const FAR = 0.5

/**
 * Indexes in `Asked.ranges` for each spread: bounds of the changes that targets make to the squares and to the sums.
 */
export const RANGE = { low: 0, high: 1, least: 2, most: 3, width: 4 } as const

export interface Asked {
  /** The column that each spread is about. */
  readonly amounts: Float64Array
  /** 0 for a forthcoming instance, which does not count as one. */
  readonly counted: number
  /** Memory that the target must keep for it. */
  readonly reserve: number
  /** By target, the least that it adds to the score. */
  readonly values: Float64Array
  readonly ranges: Float64Array
  least: number
  leastAt: number
  /** The version of the columns that was used. */
  version: number
}

export class Columns {
  readonly slopes = new Float64Array(SPREAD_COUNT)
  version = -1
  /** Whether keeping more memory for others never lowers the score. */
  reservingCosts = false
  private readonly reserved: Float64Array
  private readonly failing: Float64Array
  private readonly units: Float64Array
  /**
   * By spread and target: the distance from the mean times the slope. After the spreads, the sums of those that go
   * together.
   */
  private readonly weights: Float64Array
  private readonly nearest = new Float64Array(SPREAD_COUNT)
  private readonly farthest = new Float64Array(SPREAD_COUNT)
  private readonly unitLeast = new Float64Array(SPREAD_COUNT)
  private readonly unitMost = new Float64Array(SPREAD_COUNT)

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    private readonly targets: readonly number[],
  ) {
    const count = targets.length
    this.units = new Float64Array(SPREAD_COUNT * count)
    this.weights = new Float64Array((SPREAD_COUNT + TOGETHER.length) * count)
    this.reserved = new Float64Array(count)
    this.failing = new Float64Array(count)
    targets.forEach((node, at) => this.count(node, at))
    for (let k = 0; k < SPREAD_COUNT; k++) {
      const units = this.units.subarray(k * count, (k + 1) * count)
      this.unitLeast[k] = units.reduce((least, one) => Math.min(least, one), Infinity)
      this.unitMost[k] = units.reduce((most, one) => Math.max(most, one), -Infinity)
    }
  }

  finite(): boolean {
    return this.units.every(Number.isFinite)
  }

  /** Updates the columns after each step, as the score does. */
  follow(): void {
    const { score, model, targets } = this
    if (score.version === this.version) return
    this.version = score.version
    const count = targets.length
    for (let j = 0; j < count; j++) {
      const row = (targets[j] ?? 0) * Col.Width
      this.reserved[j] = model.rows[row + Col.Reserved] ?? 0
      this.failing[j] = model.rows[row + Col.FailsN1] ?? 0
    }
    for (let k = 0; k < SPREAD_COUNT; k++) this.followOne(k)
    TOGETHER.forEach((spreads, at) => this.addUp(spreads, (SPREAD_COUNT + at) * count))
    const reserving = this.weights.subarray(RESERVED * count, (RESERVED + 1) * count)
    this.reservingCosts = reserving.every((one) => RESERVED_WEIGHT + 2 * one >= 0)
  }

  /** Computes the least sum for each target if it gets this, and the least of all. */
  fill(requested: Asked): void {
    const { amounts, values, counted } = requested
    const { failing } = this
    requested.version = this.version
    for (let j = 0; j < values.length; j++) values[j] = counted * (failing[j] ?? 0)
    const left = amounts.slice()
    left[RESERVED] = 0
    TOGETHER.forEach((spreads, at) => {
      const [first = 0] = spreads
      const amount = left[first] ?? 0
      if (amount === 0 || !spreads.every((k) => left[k] === amount)) return
      const slope = spreads.reduce((sum, k) => sum + (this.slopes[k] ?? 0), 0)
      this.addTo(values, SPREAD_COUNT + at, first, amount, slope)
      for (const k of spreads) left[k] = 0
    })
    left.forEach((amount, k) => {
      if (amount !== 0) this.addTo(values, k, k, amount, this.slopes[k] ?? 0)
    })
    if (requested.reserve > 0) {
      for (let j = 0; j < values.length; j++) values[j] = (values[j] ?? 0) + this.ofReserve(j, requested.reserve)
    }
    for (let k = 0; k < SPREAD_COUNT; k++) this.range(k, amounts[k] ?? 0, requested.ranges)
    requested.leastAt = lowest(values)
    requested.least = values[requested.leastAt] ?? Infinity
  }

  /** The target's sum if it must keep this much memory for one primary. */
  ofReserve(target: number, needed: number): number {
    const more = needed - (this.reserved[target] ?? 0)
    if (more <= 0) return 0
    const at = RESERVED * this.targets.length + target
    const change = more * (this.units[at] ?? 0)
    return change * (RESERVED_WEIGHT + 2 * (this.weights[at] ?? 0) + change * (this.slopes[RESERVED] ?? 0))
  }

  private followOne(k: number): void {
    const { targets, weights } = this
    const { squares, online, contributions } = this.score
    const from = k * targets.length
    const sum = squares[k] ?? 0
    const slope = sum < 1e-12 ? 0 : (WEIGHTS[k] ?? 0) / (2 * Math.sqrt(sum * online))
    const far = FAR * Math.sqrt(sum / online)
    const [lowest, highest] = FREE.includes(k) ? [-far, Infinity] : [-Infinity, far]
    let [least, most] = [Infinity, -Infinity]
    for (let j = 0; j < targets.length; j++) {
      const real = contributions[(targets[j] ?? 0) * CONTRIBUTION + k] ?? 0
      const distance = real < lowest ? lowest : real > highest ? highest : real
      if (distance < least) least = distance
      if (distance > most) most = distance
      weights[from + j] = slope * distance
    }
    this.slopes[k] = slope
    this.nearest[k] = least
    this.farthest[k] = most
  }

  private addUp(spreads: readonly number[], to: number): void {
    const { weights } = this
    const count = this.targets.length
    weights.fill(0, to, to + count)
    for (const k of spreads) {
      for (let j = 0; j < count; j++) weights[to + j] = (weights[to + j] ?? 0) + (weights[k * count + j] ?? 0)
    }
  }

  private range(k: number, amount: number, out: Float64Array): void {
    const [first, second] = [amount * (this.unitLeast[k] ?? 0), amount * (this.unitMost[k] ?? 0)]
    // A target keeps memory only for its largest peer, so the change may also be zero.
    const least = k === RESERVED ? 0 : Math.min(first, second)
    const most = Math.max(first, second)
    const [near, far] = [this.nearest[k] ?? 0, this.farthest[k] ?? 0]
    const at = k * RANGE.width
    const none = amount === 0
    out[at + RANGE.low] = none ? 0 : 2 * Math.min(least * near, least * far, most * near, most * far)
    const high = none ? 0 : 2 * Math.max(least * near, least * far, most * near, most * far)
    out[at + RANGE.high] = none ? 0 : high + Math.max(least * least, most * most)
    out[at + RANGE.least] = none ? 0 : least
    out[at + RANGE.most] = none ? 0 : most
  }

  private count(node: number, at: number): void {
    const facts = this.model.nodes[node]
    if (facts === undefined) return
    unitsOf(facts).forEach((unit, k) => (this.units[k * this.targets.length + at] = unit))
  }

  /** `unit`: the spread that converts an amount to its effect on a target. */
  private addTo(out: Float64Array, column: number, unit: number, amount: number, slope: number): void {
    const { weights, units } = this
    const [weightsFrom, unitsFrom] = [column * out.length, unit * out.length]
    for (let j = 0; j < out.length; j++) {
      const change = amount * (units[unitsFrom + j] ?? 0)
      out[j] = (out[j] ?? 0) + change * (2 * (weights[weightsFrom + j] ?? 0) + change * slope)
    }
  }
}

/** By spread: the effect of one unit of an instance's amount on the node. */
export function unitsOf({ data, highSpindles }: NodeFacts): number[] {
  const { totalMemory, totalDisk, totalCpus, cpuSpeed } = data
  const [memory, disk] = [-1 / totalMemory, totalDisk === 0 ? 0 : -1 / totalDisk]
  const [cpu, spindle] = [1 / totalCpus / cpuSpeed, 1 / highSpindles]
  return [memory, disk, 1 / totalMemory, cpu, 1, 1, 1, 1, spindle, memory, disk, cpu, spindle]
}

function lowest(values: Float64Array): number {
  let [best, least] = [0, Infinity]
  for (let at = 0; at < values.length; at++) {
    const value = values[at] ?? Infinity
    if (value < least) {
      best = at
      least = value
    }
  }
  return best
}
