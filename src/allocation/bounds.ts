// Which targets of a move are worth trying: for each a score that the move cannot fall below, for a fraction of what trying costs.
// A spread is the root of a variance, which is a concave function of the sum of squares: over an interval it lies above any line that
// is not above it at both ends. With the same slopes for all moves of a step, what a target adds is the amount that it gets times one
// column plus the amount's square times another, and these columns are counted once for each step.
import { type ClusterModel, Col, type InstanceFacts } from './cluster-model'
import { CONTRIBUTION, RESERVED_WEIGHT, SPREAD_COUNT, type Score, WEIGHTS } from './score'

/** Places of spreads in a contribution. */
const RESERVED = 2
/** Columns that are asked for together by most instances: a resource with and without forthcoming ones, and the loads. */
const PAIRS = [
  [0, 9],
  [1, 10],
  [3, 11],
  [8, 12],
  [4, 5, 6, 7],
]
/** Rounding of the bounds themselves. */
const SLACK = 1e-9

/** What a kind of move does besides what it does to its target. */
export interface Source {
  /** As `Score.difference` writes them. */
  readonly differences: readonly Float64Array[]
  /** At least this much is added to the linear part. */
  readonly linear: number
  /** The node of the last difference may have to keep this much more memory free than that says. */
  readonly reservedAlso?: { readonly node: number; readonly more: number }
}

export class Bounds {
  /** False when a cluster has what these bounds do not cover. */
  readonly usable: boolean
  private readonly columns: Columns
  private readonly primary: Float64Array
  private readonly secondary: Float64Array
  private ranges: readonly (readonly Range[])[] = [[], []]
  /** By target: what it keeps free already for the primary in question. */
  private readonly kept: Float64Array
  private readonly places: ReadonlyMap<number, number>
  private counted = 1
  private readonly perMiB: Float64Array

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    private readonly targets: readonly number[],
  ) {
    this.columns = new Columns(model, score, targets)
    this.usable = this.columns.finite() && targets.every((node) => !model.nodes[node]?.data.exclusiveStorage)
    this.primary = new Float64Array(targets.length)
    this.secondary = new Float64Array(targets.length)
    this.kept = new Float64Array(targets.length)
    this.places = new Map(targets.map((node, at) => [node, at]))
    this.perMiB = Float64Array.from(targets, (node) => 1 / (model.nodes[node]?.data.totalMemory ?? 1))
  }

  /** From here on the bounds are about this instance as a primary, and as a secondary, of every target. */
  begin(instance: InstanceFacts, mirrored: boolean): void {
    this.columns.follow()
    const { data, util } = instance
    const real = data.forthcoming ? 0 : 1
    const local = instance.local ? 1 : 0
    const vcpus = instance.online ? data.vcpus : 0
    const [cpu = 0, memory = 0, disk = 0, net = 0] = util
    const used = instance.usesMemory ? data.memory : 0
    const asPrimary = [
      ...[real * used, real * local * data.disk, 0, real * vcpus, real * cpu, real * memory, real * disk, real * net],
      ...[real * local * data.spindleUse, data.memory, local * data.disk, vcpus, local * data.spindleUse],
    ]
    const asSecondary = [
      ...[0, real * data.disk, 0, 0, 0, 0, real * disk, 0],
      ...[real * data.spindleUse, 0, data.disk, 0, data.spindleUse],
    ]
    this.counted = real
    const ranges = (amounts: readonly number[]) => amounts.map((amount, k) => this.columns.range(k, amount))
    this.ranges = [ranges(asPrimary), mirrored ? ranges(asSecondary.with(RESERVED, real * instance.reserve)) : []]
    this.columns.sum(asPrimary, this.primary)
    if (mirrored) this.columns.sum(asSecondary, this.secondary)
  }

  /** For each target, in order, a score that is not above that of the move which makes the target the primary. */
  ofPrimary(source: Source, out: Float64Array, at: number): void {
    this.add(this.primary, this.constant(source, this.ranges[0] ?? []), out, at)
  }

  /** The same for the secondary of an instance on `primary`. */
  ofSecondary(source: Source, instance: InstanceFacts, primary: number, out: Float64Array, at: number): void {
    const reserve = instance.data.forthcoming ? 0 : instance.reserve
    this.add(this.secondary, this.constant(source, this.ranges[1] ?? []), out, at)
    if (reserve === 0) return
    const { reserved, slopes, distances } = this.columns
    const slope = slopes[RESERVED] ?? 0
    const from = RESERVED * this.targets.length
    this.kept.fill(0)
    for (const node of this.model.served[primary] ?? []) {
      const place = this.places.get(node)
      if (place !== undefined) this.kept[place] = this.model.peers[node]?.get(primary) ?? 0
    }
    for (let j = 0; j < this.targets.length; j++) {
      const more = reserve + (this.kept[j] ?? 0) - (reserved[j] ?? 0)
      if (more <= 0) continue
      const change = more * (this.perMiB[j] ?? 0)
      const squares = change * (2 * (distances[from + j] ?? 0) + change)
      out[at + j] = (out[at + j] ?? 0) + RESERVED_WEIGHT * change + slope * squares
    }
  }

  private add(sums: Float64Array, constant: number, out: Float64Array, at: number): void {
    const { failing } = this.columns
    const { counted } = this
    for (let j = 0; j < sums.length; j++) out[at + j] = (sums[j] ?? 0) + constant + counted * (failing[j] ?? 0)
  }

  /** What all targets have in common. */
  private constant(source: Source, ranges: readonly Range[]): number {
    const { squares, online } = this.score
    let sum = this.score.linearPart() + source.linear - SLACK
    for (let k = 0; k < SPREAD_COUNT; k++) {
      let [base, shift] = [squares[k] ?? 0, 0]
      for (const one of source.differences) {
        base += one[k + SPREAD_COUNT] ?? 0
        shift += one[k] ?? 0
      }
      const { low, high, least, most } = ranges[k] ?? NO_RANGE
      const also = k === RESERVED ? this.reservedAlso(source) : NOTHING_ALSO
      const away = Math.max((shift + least) ** 2, (shift + most + also.shift) ** 2) / online
      const slope = this.columns.slopes[k] ?? 0
      const spread = (change: number) => Math.sqrt(Math.max(0, (base + also.squares + change - away) / online))
      const weight = WEIGHTS[k] ?? 0
      // Below 0 the root is cut off, and nothing is known of what lies between.
      const concave = base + also.squares + low - away >= 0
      sum += Math.min(concave ? weight * spread(low) - slope * low : -slope * low, weight * spread(high) - slope * high)
      if (!concave) sum += Math.min(0, -weight * spread(high))
    }
    return sum
  }

  /** The least that the squares become, and the most that the sum does, when the node keeps more memory free. */
  private reservedAlso({ reservedAlso, differences }: Source): { squares: number; shift: number } {
    if (reservedAlso === undefined || this.model.nodes[reservedAlso.node]?.offline) return NOTHING_ALSO
    const { node } = reservedAlso
    const shift = reservedAlso.more / (this.model.nodes[node]?.data.totalMemory ?? 1)
    const distance = this.score.contributions[node * CONTRIBUTION + RESERVED] ?? 0
    const now = distance + (differences.at(-1)?.[RESERVED] ?? 0)
    const nearest = now >= 0 ? now : Math.min(0, now + shift)
    return { squares: nearest * nearest - now * now, shift }
  }
}

const NOTHING_ALSO = { squares: 0, shift: 0 }

/** By spread and target, one after the other: what a unit of the resource changes. */
class Columns {
  readonly slopes = new Float64Array(SPREAD_COUNT)
  readonly distances: Float64Array
  readonly reserved: Float64Array
  readonly failing: Float64Array
  private readonly units: Float64Array
  /** What an amount, and the square of an amount, adds to the bound; behind the spreads, the sums of pairs. */
  private readonly once: Float64Array
  private readonly squared: Float64Array
  private readonly ranges: Extent[] = []
  private version = -1

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    private readonly targets: readonly number[],
  ) {
    const count = targets.length
    this.units = new Float64Array(SPREAD_COUNT * count)
    this.distances = new Float64Array(SPREAD_COUNT * count)
    this.once = new Float64Array((SPREAD_COUNT + PAIRS.length) * count)
    this.squared = new Float64Array((SPREAD_COUNT + PAIRS.length) * count)
    this.reserved = new Float64Array(count)
    this.failing = new Float64Array(count)
    targets.forEach((node, at) => this.count(node, at))
  }

  finite(): boolean {
    return this.units.every(Number.isFinite)
  }

  /** The score counts anew after each step, and so do the columns. */
  follow(): void {
    const { score, model, targets } = this
    if (score.version === this.version) return
    this.version = score.version
    const count = targets.length
    for (let k = 0; k < SPREAD_COUNT; k++) {
      const sum = score.squares[k] ?? 0
      this.slopes[k] = sum < 1e-12 ? 0 : (WEIGHTS[k] ?? 0) / (2 * Math.sqrt(sum * score.online))
    }
    targets.forEach((node, j) => {
      this.reserved[j] = model.rows[node * Col.Width + Col.Reserved] ?? 0
      this.failing[j] = model.rows[node * Col.Width + Col.FailsN1] ?? 0
      for (let k = 0; k < SPREAD_COUNT; k++) {
        const at = k * count + j
        const distance = score.contributions[node * CONTRIBUTION + k] ?? 0
        const [unit, slope] = [this.units[at] ?? 0, this.slopes[k] ?? 0]
        this.distances[at] = distance
        this.once[at] = 2 * slope * unit * distance
        this.squared[at] = slope * unit * unit
      }
    })
    PAIRS.forEach((pair, at) => {
      addColumns(this.once, pair, (SPREAD_COUNT + at) * count, count)
      addColumns(this.squared, pair, (SPREAD_COUNT + at) * count, count)
    })
    for (let k = 0; k < SPREAD_COUNT; k++) this.ranges[k] = extent(this.units, this.distances, k * count, count)
  }

  sum(amounts: readonly number[], out: Float64Array): void {
    out.fill(0)
    const left = [...amounts]
    PAIRS.forEach((pair, at) => {
      const amount = left[pair[0] ?? 0] ?? 0
      if (amount === 0 || !pair.every((k) => left[k] === amount)) return
      this.addTo(out, SPREAD_COUNT + at, amount)
      for (const k of pair) left[k] = 0
    })
    left.forEach((amount, k) => {
      if (amount !== 0) this.addTo(out, k, amount)
    })
  }

  /** Between what the squares and the sums of the targets change for that amount. */
  range(k: number, amount: number): Range {
    const one = this.ranges[k]
    if (one === undefined || amount === 0) return NO_RANGE
    const [first, second] = [amount * one.unitLeast, amount * one.unitMost]
    // A target's memory is kept for the largest of its peers only, so it may also change by nothing.
    const least = k === RESERVED ? 0 : Math.min(first, second)
    const most = Math.max(first, second)
    const low = 2 * Math.min(least * one.least, least * one.most, most * one.least, most * one.most)
    const high = 2 * Math.max(least * one.least, least * one.most, most * one.least, most * one.most)
    return { low, high: high + Math.max(least * least, most * most), least, most }
  }

  private count(node: number, at: number): void {
    const facts = this.model.nodes[node]
    if (facts === undefined) return
    const { totalMemory, totalDisk, totalCpus, cpuSpeed } = facts.data
    const [memory, disk] = [-1 / totalMemory, totalDisk === 0 ? 0 : -1 / totalDisk]
    const [cpu, spindle] = [1 / totalCpus / cpuSpeed, 1 / facts.highSpindles]
    const units = [memory, disk, 1 / totalMemory, cpu, 1, 1, 1, 1, spindle, memory, disk, cpu, spindle]
    units.forEach((unit, k) => (this.units[k * this.targets.length + at] = unit))
  }

  private addTo(out: Float64Array, column: number, amount: number): void {
    const { once, squared } = this
    const from = column * out.length
    const square = amount * amount
    for (let j = 0; j < out.length; j++) {
      out[j] = (out[j] ?? 0) + amount * (once[from + j] ?? 0) + square * (squared[from + j] ?? 0)
    }
  }
}

interface Extent {
  readonly unitLeast: number
  readonly unitMost: number
  readonly least: number
  readonly most: number
}

interface Range {
  /** Of the changes of squares. */
  readonly low: number
  readonly high: number
  /** Of the changes themselves. */
  readonly least: number
  readonly most: number
}

const NO_RANGE: Range = { low: 0, high: 0, least: 0, most: 0 }

function addColumns(values: Float64Array, columns: readonly number[], to: number, count: number): void {
  for (let j = 0; j < count; j++) {
    let sum = 0
    for (const k of columns) sum += values[k * count + j] ?? 0
    values[to + j] = sum
  }
}

function extent(units: Float64Array, distances: Float64Array, from: number, count: number): Extent {
  let [unitLeast, unitMost, least, most] = [Infinity, -Infinity, Infinity, -Infinity]
  for (let at = from; at < from + count; at++) {
    const [unit, distance] = [units[at] ?? 0, distances[at] ?? 0]
    unitLeast = Math.min(unitLeast, unit)
    unitMost = Math.max(unitMost, unit)
    least = Math.min(least, distance)
    most = Math.max(most, distance)
  }
  return { unitLeast, unitMost, least, most }
}
