// What each instance promises: no move of it changes the score by less. A promise is found when the instance is looked at. Afterwards it
// is kept true from step to step: a step changes a few nodes, and the slopes of the spreads by a little. So moves between other nodes gain
// at most a little more than before, and moves to those nodes are bounded by two sums, one of the instance's nodes and one of the target.
import { type Source, linearised } from './bounds'
import { asPrimary, asSecondary } from './bound-roles'
import { NO_NODE } from './cluster-data'
import type { ClusterModel, InstanceFacts } from './cluster-model'
import { Drift } from './drift'
import { SPREAD_COUNT, type Score } from './score'
import { type Asking, NO_AMOUNTS, TargetSums } from './target-sums'

/** What the kinds of moves of an instance change at the least besides what they add to their targets; Infinity for none. */
export interface Outline {
  /** A failover to its secondary, as it is. */
  readonly alone: number
  /** Those whose target becomes the primary, and the secondary. */
  readonly primary: number
  readonly secondary: number
}

/** What a role of instances of a size asks of a target. */
interface Role {
  readonly amounts: Float64Array
  readonly asking: Asking
  /** No target adds less; nor do those that the last step has changed. */
  least: number
  /** The target that added least when all were counted, and when that was. */
  leastAt: number
  version: number
  near: number
}

export interface Size {
  readonly primary: Role
  readonly secondary: Role
  /** The more of both. */
  readonly most: Float64Array
  loss: number
}

export class Promises {
  /** By instance. */
  readonly least: Float64Array
  private readonly alone: Float64Array
  private readonly primary: Float64Array
  private readonly secondary: Float64Array
  private readonly outlined: Int32Array
  readonly sizes: Size[] = []
  private readonly sizeOf: Int32Array
  private readonly drift: Drift
  private readonly sums: TargetSums
  private readonly touched: Uint8Array
  private readonly places: Int32Array

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    targets: readonly number[],
    private readonly candidates: readonly number[],
  ) {
    const count = model.instances.length
    this.least = new Float64Array(count).fill(-Infinity)
    this.alone = new Float64Array(count)
    this.primary = new Float64Array(count)
    this.secondary = new Float64Array(count)
    this.outlined = new Int32Array(count).fill(-1)
    this.sizeOf = new Int32Array(count)
    this.touched = new Uint8Array(model.nodes.length + 1)
    this.places = new Int32Array(model.nodes.length).fill(-1)
    targets.forEach((node, at) => (this.places[node] = at))
    const most = new Float64Array(SPREAD_COUNT)
    this.drift = new Drift(model, score, targets, most)
    this.sums = new TargetSums(model, score, targets, this.drift)
    const known = new Map<string, number>()
    for (const one of candidates) {
      const facts = model.instances[one]
      if (facts !== undefined) this.sizeOf[one] = this.find(facts, known)
    }
    for (const size of this.sizes) size.most.forEach((amount, k) => (most[k] = Math.max(most[k] ?? 0, amount)))
    this.follow([])
  }

  /** What its moves change besides what they add to their targets. */
  weigh(instance: number, source: Source, asPrimary: boolean): number {
    const size = this.ofSize(instance)
    return linearised(source, (asPrimary ? size.primary : size.secondary).amounts, this.drift, this.model, this.score)
  }

  /** Whether its outline is of this step. */
  isOutlined(instance: number): boolean {
    return this.outlined[instance] === this.score.version
  }

  outline(instance: number, { alone, primary, secondary }: Outline): void {
    this.alone[instance] = alone
    this.primary[instance] = primary
    this.secondary[instance] = secondary
    this.outlined[instance] = this.score.version
    this.raise(instance)
  }

  /** As far as outlines tell, with what targets add counted anew where that may show that no move changes the score by less than this. */
  refine(instance: number, change: number): void {
    const { primary, secondary } = this.ofSize(instance)
    if (!this.count(primary, change - (this.primary[instance] ?? 0))) return
    if (!this.count(secondary, change - (this.secondary[instance] ?? 0))) return
    this.raise(instance)
  }

  /** Whether no target adds less than this, as far as it is known. */
  private count(role: Role, bound: number): boolean {
    if (role.least >= bound) return true
    if (role.version === this.score.version) return false
    if (role.leastAt !== -1 && this.sums.at(role.leastAt, role.asking) < bound) return false
    role.version = this.score.version
    role.leastAt = this.sums.leastAt(role.asking)
    role.least = role.leastAt === -1 ? Infinity : this.sums.at(role.leastAt, role.asking)
    return role.least >= bound
  }

  /** What some steps like the last will take from its promise. */
  ahead(instance: number): number {
    const { loss } = this.ofSize(instance)
    return loss < Infinity ? STEPS_AHEAD * loss : 0
  }

  /** A move was made between these nodes. Answers with the instances on them, which promise nothing any more. */
  follow(nodes: readonly number[]): number[] {
    const { drift, sums, sizes, touched, places, model, candidates } = this
    drift.follow()
    const own = [...new Set(nodes)].filter((node) => node !== NO_NODE)
    const changed = own.map((node) => places[node] ?? -1).filter((place) => place !== -1)
    sums.follow(changed)
    for (const size of sizes) this.followSize(size, changed)
    for (const node of own) touched[node] = 1
    const on: number[] = []
    for (const one of candidates) {
      const [home, mirror] = [model.primary[one] ?? NO_NODE, model.secondary[one] ?? NO_NODE]
      if (touched[home] === 1 || (mirror !== NO_NODE && touched[mirror] === 1)) {
        this.least[one] = -Infinity
        on.push(one)
      } else this.lessen(one)
    }
    for (const node of own) touched[node] = 0
    return on
  }

  private lessen(instance: number): void {
    const { least, alone, primary, secondary } = this
    const size = this.ofSize(instance)
    const { loss } = size
    if (loss === Infinity) {
      least[instance] = -Infinity
      return
    }
    const asPrimary = (primary[instance] ?? 0) - loss
    const asSecondary = (secondary[instance] ?? 0) - loss
    primary[instance] = asPrimary
    secondary[instance] = asSecondary
    alone[instance] = (alone[instance] ?? 0) - loss
    const before = (least[instance] ?? 0) - loss
    const near = Math.min(asPrimary + size.primary.near, asSecondary + size.secondary.near)
    least[instance] = near < before ? near : before
  }

  private raise(instance: number): void {
    const { primary, secondary } = this.ofSize(instance)
    const asPrimary = (this.primary[instance] ?? 0) + primary.least
    const asSecondary = (this.secondary[instance] ?? 0) + secondary.least
    const least = Math.min(this.alone[instance] ?? 0, asPrimary, asSecondary)
    if (least > (this.least[instance] ?? 0)) this.least[instance] = least
  }

  private followSize(size: Size, changed: readonly number[]): void {
    const { losses } = this.drift
    let loss = ROUNDING
    for (let k = 0; k < SPREAD_COUNT; k++) {
      const amount = size.most[k] ?? 0
      if (amount !== 0) loss += amount * (losses[k] ?? 0)
    }
    size.loss = loss
    for (const role of [size.primary, size.secondary]) {
      role.near = Infinity
      for (const place of changed) role.near = Math.min(role.near, this.sums.at(place, role.asking))
      role.least = Math.min(role.least - this.sums.drop(role.asking) - ROUNDING, role.near)
    }
  }

  private ofSize(instance: number): Size {
    const size = this.sizes[this.sizeOf[instance] ?? 0]
    if (size === undefined) throw new Error(`instance ${instance} is no candidate`)
    return size
  }

  private find(facts: InstanceFacts, known: Map<string, number>): number {
    const primary = asPrimary(facts)
    const secondary = facts.data.template === 'drbd' ? asSecondary(facts) : NO_AMOUNTS
    const counted = facts.data.forthcoming ? 0 : 1
    const key = `${primary.join()} ${secondary.join()} ${counted}`
    const id = known.get(key)
    if (id !== undefined) return id
    known.set(key, this.sizes.length)
    const most = Float64Array.from(primary, (one, k) => Math.max(one, secondary[k] ?? 0))
    const role = (amounts: readonly number[]): Role => {
      const asking = this.sums.asking(amounts, counted)
      return { amounts: Float64Array.from(amounts), asking, least: -Infinity, leastAt: -1, version: -1, near: Infinity }
    }
    return this.sizes.push({ primary: role(primary), secondary: role(secondary), most, loss: 0 }) - 1
  }
}

const ROUNDING = 1e-12
const STEPS_AHEAD = 8
