// Each instance has a promise: no move of it changes the score by less. The promise is found when the instance is
// considered, and then updated from step to step. A step changes a few nodes, and slightly the slopes of the spreads.
// So moves between other nodes gain at most a little more than before. Moves to the changed nodes are bounded by two
// sums, one for the instance's nodes and one for the target.
import { asPrimary, asSecondary } from './bound-roles'
import { NO_NODE } from '../model/cluster-data'
import type { ClusterModel } from '../model/cluster-model'
import { Drift } from './bound-drift'
import { OwnChanges } from './own-changes'
import { SPREAD_COUNT, type Score } from '../model/score'
import { type Asking, NO_AMOUNTS, TargetSums } from './target-sums'
import { isMirroredInside } from '../../model/templates'

/** The amounts that instances of a size ask of a target in a role. */
export interface Role {
  readonly isPrimary: boolean
  readonly amounts: Float64Array
  readonly asking: Asking
  /** The target with the least sum at the last count, and the step of that count. */
  leastAt: number
  version: number
}

/** The sums of each target, for the last counted role. */
interface Counted {
  readonly sums: Float64Array
  role: Role | undefined
  version: number
}

export class Promises {
  /** By instance. */
  readonly least: Float64Array
  /** The score. */
  before = 0
  private readonly alone: Float64Array
  private readonly primary: Float64Array
  private readonly secondary: Float64Array
  private readonly outlined: Int32Array
  private readonly roles: Role[] = []
  /** By role: a lower bound for all targets, including those that the last step changed. */
  private readonly leastOf: Float64Array
  private readonly near: Float64Array
  private readonly drops: Float64Array
  /** By instance, its roles and size. By size, the largest amounts, and how much the last step lowered promises. */
  private readonly primaryOf: Int32Array
  private readonly secondaryOf: Int32Array
  private readonly sizeOf: Int32Array
  private readonly most: Float64Array
  private readonly losses: Float64Array
  readonly sizes: number
  private readonly drift: Drift
  readonly own: OwnChanges
  readonly sums: TargetSums
  private readonly counted: readonly [Counted, Counted]
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
    this.primaryOf = new Int32Array(count)
    this.secondaryOf = new Int32Array(count)
    this.touched = new Uint8Array(model.nodes.length + 1)
    this.places = new Int32Array(model.nodes.length).fill(-1)
    targets.forEach((node, at) => (this.places[node] = at))
    const most = new Float64Array(SPREAD_COUNT)
    this.drift = new Drift(model, score, targets, most)
    this.own = new OwnChanges(model, score, this.drift)
    this.sums = new TargetSums(model, score, targets, this.drift)
    const nothing = (): Counted => ({ sums: new Float64Array(targets.length), role: undefined, version: -1 })
    this.counted = [nothing(), nothing()]
    this.sizes = this.tellSizes()
    this.leastOf = new Float64Array(this.roles.length).fill(UNKNOWN)
    this.near = new Float64Array(this.roles.length)
    this.drops = new Float64Array(this.roles.length)
    this.losses = new Float64Array(this.sizes)
    this.most = new Float64Array(this.sizes * SPREAD_COUNT)
    for (const one of candidates) {
      for (let k = 0; k < SPREAD_COUNT; k++) {
        const [primary, secondary] = [this.roleOf(one, true), this.roleOf(one, false)]
        const amount = Math.max(primary.amounts[k] ?? 0, secondary.amounts[k] ?? 0)
        this.most[(this.sizeOf[one] ?? 0) * SPREAD_COUNT + k] = amount
        most[k] = Math.max(most[k] ?? 0, amount)
      }
    }
    this.follow([])
  }

  /** The least change by its moves, without the target's part, as far as it is known without trying. */
  outline(instance: number): void {
    const { own } = this
    const [primary, secondary] = [this.roleOf(instance, true), this.roleOf(instance, false)]
    this.outlined[instance] = this.score.version
    this.alone[instance] = own.weigh(instance, 0, ALONE)
    this.secondary[instance] = Math.min(
      own.weigh(instance, 1, secondary.amounts),
      own.weigh(instance, 2, secondary.amounts),
    )
    this.primary[instance] = Math.min(own.weigh(instance, 3, primary.amounts), own.weigh(instance, 4, primary.amounts))
    this.raise(instance)
  }

  /** Whether its outline is of this step. */
  isOutlined(instance: number): boolean {
    return this.outlined[instance] === this.score.version
  }

  /**
   * Improves the promise with outlines. Recounts targets if that may prove that no move changes the score by less than
   * this.
   */
  refine(instance: number, change: number): void {
    if (!this.count(this.roleOf(instance, true), change - (this.primary[instance] ?? 0))) return
    if (!this.count(this.roleOf(instance, false), change - (this.secondary[instance] ?? 0))) return
    this.raise(instance)
  }

  /** Whether no target adds less than this, as far as it is known. */
  private count(role: Role, bound: number): boolean {
    if (this.leastFor(role) >= bound) return true
    if (role.version === this.score.version) return false
    if (role.leastAt !== -1 && this.sums.at(role.leastAt, role.asking) < bound) return false
    this.sumsOf(role)
    return this.leastFor(role) >= bound
  }

  roleOf(instance: number, asPrimary: boolean): Role {
    const role = this.roles[(asPrimary ? this.primaryOf : this.secondaryOf)[instance] ?? 0]
    if (role === undefined) throw new Error(`instance ${instance} is no candidate`)
    return role
  }

  /** A lower bound for what targets add. */
  leastFor({ asking: { id } }: Role): number {
    return this.leastOf[id] ?? -Infinity
  }

  /** The sum of each target; valid until another role is counted. */
  sumsOf(role: Role): Float64Array {
    const counted = this.counted[role.isPrimary ? 0 : 1]
    const { sums } = counted
    const { version } = this.score
    if (counted.role === role && counted.version === version) return sums
    role.version = version
    role.leastAt = this.sums.fill(role.asking, sums)
    this.leastOf[role.asking.id] = role.leastAt === -1 ? Infinity : (sums[role.leastAt] ?? Infinity)
    counted.role = role
    counted.version = version
    return sums
  }

  /** How much a few more steps like the last one would lower its promise. */
  ahead(instance: number): number {
    const loss = this.losses[this.sizeOf[instance] ?? 0] ?? 0
    return loss < Infinity ? STEPS_AHEAD * loss : 0
  }

  /** A move was made between these nodes. Returns the instances on them, which have no promise any more. */
  follow(nodes: readonly number[]): number[] {
    const { drift, sums, touched, places, candidates, least } = this
    const { primary, secondary } = this.model
    drift.follow()
    const own = [...new Set(nodes)].filter((node) => node !== NO_NODE)
    const changed = own.map((node) => places[node] ?? -1).filter((place) => place !== -1)
    sums.follow(changed)
    this.followSizes(changed)
    // The index after the last node means no node.
    const none = touched.length - 1
    for (const node of own) touched[node] = 1
    const on: number[] = []
    for (let at = 0; at < candidates.length; at++) {
      const one = candidates[at] ?? 0
      const [home, mirror] = [primary[one] ?? NO_NODE, secondary[one] ?? NO_NODE]
      if (touched[home === NO_NODE ? none : home] === 1 || touched[mirror === NO_NODE ? none : mirror] === 1) {
        least[one] = -Infinity
        on.push(one)
      } else this.lessen(one)
    }
    for (const node of own) touched[node] = 0
    return on
  }

  private lessen(instance: number): void {
    const { least, primary, secondary, near } = this
    const loss = this.losses[this.sizeOf[instance] ?? 0] ?? 0
    if (loss === Infinity) {
      least[instance] = -Infinity
      return
    }
    const asPrimary = (primary[instance] ?? 0) - loss
    const asSecondary = (secondary[instance] ?? 0) - loss
    primary[instance] = asPrimary
    secondary[instance] = asSecondary
    const before = (least[instance] ?? 0) - loss
    const toPrimary = asPrimary + (near[this.primaryOf[instance] ?? 0] ?? 0)
    const toSecondary = asSecondary + (near[this.secondaryOf[instance] ?? 0] ?? 0)
    least[instance] = Math.min(before, toPrimary, toSecondary)
  }

  private raise(instance: number): void {
    const { leastOf } = this
    const asPrimary = (this.primary[instance] ?? 0) + (leastOf[this.primaryOf[instance] ?? 0] ?? 0)
    const asSecondary = (this.secondary[instance] ?? 0) + (leastOf[this.secondaryOf[instance] ?? 0] ?? 0)
    const least = Math.min(this.alone[instance] ?? 0, asPrimary, asSecondary)
    if (least > (this.least[instance] ?? 0)) this.least[instance] = least
  }

  private followSizes(changed: readonly number[]): void {
    const { drift, sums, most, losses, near, drops, leastOf } = this
    for (let size = 0; size < losses.length; size++) {
      let loss = ROUNDING
      for (let k = 0; k < SPREAD_COUNT; k++) {
        const amount = most[size * SPREAD_COUNT + k] ?? 0
        if (amount !== 0) loss += amount * (drift.losses[k] ?? 0)
      }
      losses[size] = loss
    }
    sums.leastOfChanged(changed, near, drops)
    for (let id = 0; id < near.length; id++) {
      leastOf[id] = Math.min((leastOf[id] ?? 0) - (drops[id] ?? 0) - ROUNDING, near[id] ?? 0)
    }
  }

  /** Assigns each instance's roles and size. Returns the number of sizes. */
  private tellSizes(): number {
    const { model, candidates, roles, primaryOf, secondaryOf, sizeOf } = this
    const [sizes, known] = [new Map<string, number>(), new Map<string, number>()]
    const role = (amounts: readonly number[], isPrimary: boolean, counted: number): number => {
      const id = idOf(known, `${isPrimary} ${amounts.join()} ${counted}`)
      if (roles[id] !== undefined) return id
      const asking = this.sums.asking(amounts, counted)
      roles.push({ isPrimary, amounts: Float64Array.from(amounts), asking, leastAt: -1, version: -1 })
      return id
    }
    for (const one of candidates) {
      const facts = model.instances[one]
      if (facts === undefined) continue
      const counted = facts.data.forthcoming ? 0 : 1
      const primary = (primaryOf[one] = role(asPrimary(facts), true, counted))
      const amounts = isMirroredInside(facts.data.template) ? asSecondary(facts) : NO_AMOUNTS
      const secondary = (secondaryOf[one] = role(amounts, false, counted))
      sizeOf[one] = idOf(sizes, `${primary} ${secondary}`)
    }
    return sizes.size
  }
}

function idOf(known: Map<string, number>, key: string): number {
  const id = known.get(key) ?? known.size
  known.set(key, id)
  return id
}

const ALONE = new Float64Array(SPREAD_COUNT)
/**
 * Lower than everything, but finite: an instance without moves of a role promises no more because the role's targets
 * are unknown.
 */
const UNKNOWN = -Number.MAX_VALUE
const ROUNDING = 1e-12
const STEPS_AHEAD = 8
