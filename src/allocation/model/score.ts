// How evenly a cluster is loaded, as one number: the weighted sum of the spread of every resource over the online
// nodes, and of counted problems. 0 is best. A change of a few nodes is judged by their contributions before and after.
import { type ClusterModel, Col, freeMemory } from './cluster-model'

/** Components that are spreads (standard deviations), in the order of a node's contribution. */
const SPREADS = [0.5, 0.5, 1, 0.5, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.5]
export const WEIGHTS = Float64Array.from(SPREADS)
export const SPREAD_COUNT = SPREADS.length
/** A contribution: the spreads' values, then the weighted sum of all counted figures. */
export const CONTRIBUTION = SPREAD_COUNT + 1
/** Indexes in a difference, after the changes of the values and of their squares. */
export const LINEAR = 2 * SPREAD_COUNT
const NODE = LINEAR + 1
export const newDifference = (): Float64Array => new Float64Array(NODE + 1)
export const NO_DIFFERENCE = newDifference()
/** The rounding error of a sum of squares, for each unit added or removed. */
export const LOST = 2 ** -50
/**
 * If the rounding error could change a spread by more than this, it is recomputed. Less than the difference between two
 * scores.
 */
const UNSURE = 2e-11
/** The index of the memory kept for others. */
export const RESERVED = 2
export const RESERVED_WEIGHT = 0.25

export interface Component {
  readonly name: string
  /** The index of the spread, if it is one. */
  readonly spread?: number
  /** The nodes' value that it sums. Tag pairs have neither. */
  readonly counted?: keyof Counted
  readonly value: number
  readonly weight: number
}

/** Figures that are only summed. */
export interface Counted {
  failing: number
  offline: number
  offlinePrimaries: number
  clashes: number
  location: number
  reserved: number
}

/** Adds the node's figures to `totals`. */
export function countOn(
  model: ClusterModel,
  node: number,
  rows: Float64Array,
  row = node * Col.Width,
  totals: Counted = { failing: 0, offline: 0, offlinePrimaries: 0, clashes: 0, location: 0, reserved: 0 },
): Counted {
  const facts = model.nodes[node]
  const primaries = rows[row + Col.Primaries] ?? 0
  const here = primaries + (rows[row + Col.Secondaries] ?? 0)
  if (facts?.offline === false) {
    if (rows[row + Col.FailsN1]) totals.failing += here
    totals.clashes += rows[row + Col.TagClashes] ?? 0
    totals.location += rows[row + Col.Location] ?? 0
    totals.reserved += (rows[row + Col.Reserved] ?? 0) / facts.data.totalMemory
  } else {
    totals.offline += here
    totals.offlinePrimaries += primaries
  }
  return totals
}

/** The node's contribution, from the row at `row` of `rows`, which may be a trial's. */
export function contribute(
  model: ClusterModel,
  node: number,
  rows: Float64Array,
  row: number,
  out: Float64Array,
  at: number,
): void {
  const facts = model.nodes[node]
  if (facts === undefined) return
  const { data } = facts
  const get = (col: Col): number => rows[row + col] ?? 0
  const here = get(Col.Primaries) + get(Col.Secondaries)
  if (facts.offline) {
    out[at + SPREAD_COUNT] = 4 * here + 16 * get(Col.Primaries)
    return
  }
  const spindled = data.exclusiveStorage
  const totalDisk = spindled ? data.spindles : data.totalDisk
  const cpus = data.totalCpus
  const reserved = get(Col.Reserved) / data.totalMemory
  out[at] = (facts.usable - get(Col.InstanceMemory)) / data.totalMemory
  out[at + 1] = totalDisk === 0 ? 1 : get(spindled ? Col.FreeSpindles : Col.FreeDisk) / totalDisk
  out[at + 2] = reserved
  out[at + 3] = get(Col.Vcpus) / cpus / data.cpuSpeed
  out[at + 4] = get(Col.LoadCpu)
  out[at + 5] = get(Col.LoadMemory)
  out[at + 6] = get(Col.LoadDisk)
  out[at + 7] = get(Col.LoadNet)
  out[at + 8] = get(Col.UsedSpindles) / facts.highSpindles
  out[at + 9] = get(Col.FreeMemoryAll) / data.totalMemory
  out[at + 10] = totalDisk === 0 ? 1 : get(spindled ? Col.FreeSpindlesAll : Col.FreeDiskAll) / totalDisk
  out[at + 11] = get(Col.VcpusAll) / cpus / data.cpuSpeed
  out[at + 12] = get(Col.UsedSpindlesAll) / facts.highSpindles
  out[at + SPREAD_COUNT] =
    (get(Col.FailsN1) ? here : 0) + 2 * get(Col.TagClashes) + get(Col.Location) + RESERVED_WEIGHT * reserved
}

/** The statistics of some nodes, for example of a group. They make the score after a change of a few nodes cheap. */
export class Score {
  /** Contributions of the nodes. Spreads are relative to the mean, so that sums of squares stay exact. */
  readonly contributions: Float64Array
  readonly squares = new Float64Array(SPREAD_COUNT)
  readonly sums = new Float64Array(SPREAD_COUNT)
  /** The sums of the contributions. Because the means are rounded, they are not exactly zero. */
  readonly remainders = new Float64Array(SPREAD_COUNT)
  readonly means = new Float64Array(SPREAD_COUNT)
  /** The values as contributed. */
  readonly values: Float64Array
  private linear = 0
  online = 0
  /** The number of full recomputations. */
  version = 0
  private readonly pairs: TagPairs

  constructor(
    private readonly model: ClusterModel,
    readonly nodes: readonly number[],
  ) {
    this.contributions = new Float64Array(model.nodes.length * CONTRIBUTION)
    this.values = new Float64Array(model.nodes.length * CONTRIBUTION)
    this.pairs = new TagPairs(model, nodes)
    this.refresh()
  }

  /** Recomputes from the rows of the changed nodes after each step, so that rounding errors do not add up. */
  refresh(changed = this.nodes): void {
    const { model, nodes, values, contributions, sums, means, remainders, squares } = this
    for (const node of changed) contribute(model, node, model.rows, node * Col.Width, values, node * CONTRIBUTION)
    this.version++
    this.online = 0
    this.linear = 0
    sums.fill(0)
    for (const node of nodes) {
      const at = node * CONTRIBUTION
      this.linear += contributions[at + SPREAD_COUNT] = values[at + SPREAD_COUNT] ?? 0
      if (model.nodes[node]?.offline) continue
      this.online++
      for (let k = 0; k < SPREAD_COUNT; k++) sums[k] = (sums[k] ?? 0) + (values[at + k] ?? 0)
    }
    for (let k = 0; k < SPREAD_COUNT; k++) means[k] = (sums[k] ?? 0) / this.online
    squares.fill(0)
    remainders.fill(0)
    for (const node of nodes) {
      if (model.nodes[node]?.offline) continue
      const at = node * CONTRIBUTION
      for (let k = 0; k < SPREAD_COUNT; k++) {
        const distance = (values[at + k] ?? 0) - (means[k] ?? 0)
        contributions[at + k] = distance
        remainders[k] = (remainders[k] ?? 0) + distance
        squares[k] = (squares[k] ?? 0) + distance * distance
      }
    }
  }

  /** Summed in Ganeti's order, to the last bit. Without an online node there are no statistics. */
  value(): number {
    return this.components().reduce((sum, { weight, value }) => sum + weight * value, 0)
  }

  /** The weighted sum of all counted figures now. */
  linearPart(): number {
    return this.linear + this.pairs.value()
  }

  /** The changes if the node has the row at `row`: of the values, of their squares, and of the counted figures. */
  difference(node: number, rows: Float64Array, row: number, out: Float64Array): void {
    contribute(this.model, node, rows, row, scratch, 0)
    const at = node * CONTRIBUTION
    const offline = this.model.nodes[node]?.offline === true
    for (let k = 0; k < SPREAD_COUNT; k++) {
      const before = this.contributions[at + k] ?? 0
      const after = offline ? before : (scratch[k] ?? 0) - (this.means[k] ?? 0)
      out[k] = after - before
      out[k + SPREAD_COUNT] = after * after - before * before
    }
    out[LINEAR] = (scratch[SPREAD_COUNT] ?? 0) - (this.contributions[at + SPREAD_COUNT] ?? 0)
    out[NODE] = node
  }

  /** The score after up to three differences. Returns Infinity as soon as it cannot be below `bound`. */
  after(bound: number, extra: number, one: Float64Array, two: Float64Array, three: Float64Array): number {
    const { online, squares, remainders } = this
    let score = this.linearPart() + extra + (one[LINEAR] ?? 0) + (two[LINEAR] ?? 0) + (three[LINEAR] ?? 0)
    for (let k = 0; k < SPREAD_COUNT; k++) {
      if (score >= bound) return Infinity
      const mean = ((remainders[k] ?? 0) + (one[k] ?? 0) + (two[k] ?? 0) + (three[k] ?? 0)) / online
      const j = k + SPREAD_COUNT
      const before = squares[k] ?? 0
      const total = before + (one[j] ?? 0) + (two[j] ?? 0) + (three[j] ?? 0)
      let variance = total / online - mean * mean
      const unsure = (LOST / UNSURE / 2 / online) * (before + total)
      if (variance < unsure * unsure) variance = this.varianceWith(k, mean, [one, two, three])
      if (variance > 0) score += (WEIGHTS[k] ?? 0) * Math.sqrt(variance)
    }
    return score < bound ? score : Infinity
  }

  /**
   * If almost nothing is left of large squares, their difference is only rounding. Then each node's distance is used.
   */
  private varianceWith(k: number, mean: number, differences: readonly Float64Array[]): number {
    const { model, nodes, contributions, online } = this
    const places = differences.map((one) => (one[NODE] ?? 0) * CONTRIBUTION + k)
    const before = places.map((at) => contributions[at] ?? 0)
    places.forEach((at, i) => (contributions[at] = (contributions[at] ?? 0) + (differences[i]?.[k] ?? 0)))
    let sum = 0
    for (const node of nodes) {
      if (model.nodes[node]?.offline) continue
      const distance = (contributions[node * CONTRIBUTION + k] ?? 0) - mean
      sum += distance * distance
    }
    places.forEach((at, i) => (contributions[at] = before[i] ?? 0))
    return sum / online
  }

  /** The instance's primary has just changed. */
  instanceMoved(instance: number, from: number, to: number): void {
    this.pairs.move(instance, from, to)
  }

  /** Whether a move may change the effect of other moves on the tag pairs. */
  get hasPairs(): boolean {
    return this.pairs.matter
  }

  /** The change of the tag pairs when the instance's primary goes from one node to another. */
  pairsAfter(instance: number, from: number, to: number): number {
    return this.pairs.moved(instance, from, to)
  }

  components(): Component[] {
    if (this.online === 0) return []
    let totals: Counted | undefined
    for (const node of this.nodes) totals = countOn(this.model, node, this.model.rows, node * Col.Width, totals)
    const spread = (name: string, k: number): Component => ({
      name,
      spread: k,
      value: Math.sqrt((this.squares[k] ?? 0) / this.online),
      weight: WEIGHTS[k] ?? 0,
    })
    const sum = (name: string, weight: number, counted: keyof Counted): Component => ({
      ...{ name, weight, counted },
      value: totals?.[counted] ?? 0,
    })
    return [
      spread('free_mem_cv', 0),
      spread('free_disk_cv', 1),
      sum('n1_cnt', 1, 'failing'),
      spread('reserved_mem_cv', 2),
      sum('offline_all_cnt', 4, 'offline'),
      sum('offline_pri_cnt', 16, 'offlinePrimaries'),
      spread('vcpu_ratio_cv', 3),
      spread('cpu_load_cv', 4),
      spread('mem_load_cv', 5),
      spread('disk_load_cv', 6),
      spread('net_load_cv', 7),
      sum('pri_tags_score', 2, 'clashes'),
      spread('spindles_cv', 8),
      spread('free_mem_cv_forth', 9),
      spread('free_disk_cv_forth', 10),
      spread('vcpu_ratio_cv_forth', 11),
      spread('spindles_cv_forth', 12),
      sum('location_score', 1, 'location'),
      { name: 'location_exclusion_score', value: this.pairs.value(), weight: 1 },
      sum('reserved_mem_rtotal', RESERVED_WEIGHT, 'reserved'),
    ]
  }

  /** The score of a perfectly balanced cluster. It is not 0, because memory must be reserved somewhere. */
  optimum(): number {
    const { nodes, model } = this
    if (nodes.length < 2) return 0
    const memory = nodes.map((node) => model.nodes[node]?.data.totalMemory ?? 0)
    const total = memory.reduce((sum, one) => sum + one, 0)
    const less = total - Math.max(...memory)
    if (less <= 0) return 0
    const needed = nodes.reduce((sum, node) => [...(model.peers[node]?.values() ?? [])].reduce((a, b) => a + b, sum), 0)
    return RESERVED_WEIGHT * (needed / less - needed / total)
  }

  /** Online nodes that lack the memory that they keep for others. */
  failing(): number[] {
    return this.nodes.filter(
      (node) => !this.model.nodes[node]?.offline && this.model.rows[node * Col.Width + Col.FailsN1],
    )
  }

  /** The number of instances on these nodes. Does not count forthcoming instances. */
  affected(): number {
    const failing = new Set(this.failing())
    const { instances } = this.model.data
    return instances.filter((one) => !one.forthcoming && (failing.has(one.primary) || failing.has(one.secondary)))
      .length
  }

  freeMemory(): number {
    return this.nodes.reduce((sum, node) => sum + freeMemory(this.model, node), 0)
  }
}

const scratch = new Float64Array(CONTRIBUTION)

/** Pairs of a failure domain and an exclusion tag: how often each occurs more than once, over all online nodes. */
class TagPairs {
  private readonly counts = new Map<string, number>()
  private readonly relevant: boolean
  readonly matter: boolean
  private readonly within: ReadonlySet<number>
  private sum = 0
  private version = -1

  constructor(
    private readonly model: ClusterModel,
    nodes: readonly number[],
  ) {
    this.within = new Set(nodes)
    this.relevant = model.nodes.some(({ locations }) => locations.size > 0)
    this.matter = this.relevant && model.instances.some(({ exclusion }) => exclusion.length > 0)
  }

  /** Without an online node there are no statistics. */
  value(): number {
    if (this.relevant && this.version !== this.model.version) this.recount()
    return this.sum
  }

  move(instance: number, from: number, to: number): void {
    if (this.version !== this.model.version - 1) return
    this.version++
    if (from !== to && this.matters(instance))
      this.sum += this.change(instance, from, -1) + this.change(instance, to, 1)
  }

  moved(instance: number, from: number, to: number): number {
    if (!this.matters(instance)) return 0
    this.value()
    const change = this.change(instance, from, -1) + this.change(instance, to, 1)
    this.change(instance, to, -1)
    this.change(instance, from, 1)
    return change
  }

  private recount(): void {
    this.version = this.model.version
    this.counts.clear()
    this.sum = 0
    this.model.instances.forEach((one, at) => {
      if (!one.data.forthcoming) this.sum += this.change(at, this.model.primary[at] ?? -1, 1)
    })
  }

  private matters(instance: number): boolean {
    const facts = this.model.instances[instance]
    return this.relevant && facts !== undefined && facts.exclusion.length > 0 && !facts.data.forthcoming
  }

  private change(instance: number, node: number, by: 1 | -1): number {
    const facts = this.model.nodes[node]
    if (facts === undefined || facts.offline || !this.within.has(node)) return 0
    let change = 0
    for (const location of facts.locations) {
      for (const tag of this.model.instances[instance]?.exclusion ?? []) {
        const key = `${location}\n${tag}`
        const count = this.counts.get(key) ?? 0
        if (by === 1 ? count > 0 : count > 1) change += by
        this.counts.set(key, count + by)
      }
    }
    return change
  }
}
