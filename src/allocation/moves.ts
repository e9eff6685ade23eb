// Moves of one instance: failover, replacing a node, and both together. Tried on copies of the rows of the nodes they touch; the
// one that is taken changes the model.
import { BOUNDED_TARGETS } from '../model/limits'
import { NO_NODE } from './cluster-data'
import { type ClusterModel, Col, sharedLocations } from './cluster-model'
import { FAILED_OVER, type Leniency, Placement, SOFT, STRICT, Verdict } from './placement'
import type { Source } from './bounds'
import { type Score, SPREAD_COUNT } from './score'
import { type Kind, Targets } from './targets'

export type MoveKind =
  | 'failover'
  | 'failover-to-any'
  | 'replace-secondary'
  | 'replace-and-failover'
  | 'failover-and-replace'
  | 'replace-primary'

export interface Move {
  readonly instance: number
  readonly kind: MoveKind
  readonly primary: number
  readonly secondary: number
  /** After it. */
  readonly score: number
}

export interface Replacements {
  /** Anything that copies disks. */
  readonly disks: boolean
  readonly failover: boolean
  readonly replaceAndFailover: boolean
  readonly replacePrimary: boolean
  readonly failoverAndReplace: boolean
}

/** Places of the rows of a trial. */
const ROW = {
  primary: 0,
  secondary: Col.Width,
  other: 2 * Col.Width,
  target: 3 * Col.Width,
}

const NOTHING = new Float64Array(2 * SPREAD_COUNT + 1)
const difference = () => new Float64Array(2 * SPREAD_COUNT + 1)

export class Mover {
  private readonly placement: Placement
  private readonly emptied = difference()
  private readonly freed = difference()
  private readonly other = difference()
  private readonly target = difference()
  private readonly targets: Targets
  private best: Move | undefined
  private bound = 0

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    private readonly lenient: boolean,
    targets: readonly number[],
    boundedFrom = BOUNDED_TARGETS,
  ) {
    this.targets = new Targets(model, score, targets, boundedFrom)
    this.placement = new Placement(model, new Float64Array(4 * Col.Width))
  }

  bestFailoverToAny(instance: number, bound: number): Move | undefined {
    this.begin(bound)
    const primary = this.model.primary[instance] ?? NO_NODE
    const secondary = this.model.secondary[instance] ?? NO_NODE
    const soft = this.leniencyFrom(primary)
    this.placement.copy(primary, ROW.primary)
    const location = this.locationScore(primary, secondary)
    this.placement.removePrimary(ROW.primary, primary, instance, location)
    this.differ(primary, ROW.primary, this.emptied)
    this.targets.each({ instance, without: [primary, secondary], bound: () => this.bound }, [
      {
        source: () => this.source(instance, primary, [this.emptied]),
        primary: undefined,
        attempt: (to) => {
          if (!this.mayMigrate(primary, to)) return
          this.placement.copy(to, ROW.target)
          if (this.placement.addPrimary(ROW.target, to, instance, location, soft) !== Verdict.ok) return
          this.differ(to, ROW.target, this.target)
          this.offer(instance, 'failover-to-any', to, secondary, this.emptied, this.target, NOTHING)
        },
      },
    ])
    return this.best
  }

  /** The best move of an instance with a mirror: first the failover alone, then with every target. */
  bestReplacement(instance: number, bound: number, may: Replacements): Move | undefined {
    this.begin(bound)
    const primary = this.model.primary[instance] ?? NO_NODE
    const secondary = this.model.secondary[instance] ?? NO_NODE
    const location = this.locationScore(primary, secondary)
    this.placement.copy(primary, ROW.primary)
    this.placement.removePrimary(ROW.primary, primary, instance, location)
    this.differ(primary, ROW.primary, this.emptied)
    this.placement.copy(secondary, ROW.secondary)
    this.placement.removeSecondary(ROW.secondary, secondary, instance, primary)
    this.differ(secondary, ROW.secondary, this.freed)
    const mayFail = this.mayMigrate(primary, secondary)
    if (may.failover && mayFail) this.tryFailover(instance, primary, secondary, location)
    if (may.disks) {
      const kinds = this.replacements(instance, primary, secondary, may, mayFail)
      this.targets.each({ instance, without: [primary, secondary], bound: () => this.bound }, kinds)
    }
    return this.best
  }

  /** Makes the move; what was counted anew for trials is counted for good. */
  apply({ instance, primary, secondary }: Move): void {
    const { model, placement } = this
    const [oldPrimary, oldSecondary] = [model.primary[instance] ?? NO_NODE, model.secondary[instance] ?? NO_NODE]
    const forthcoming = model.instances[instance]?.data.forthcoming === true
    const keep = (node: number) => model.rows.set(placement.rows.subarray(0, Col.Width), node * Col.Width)
    const reserve = forthcoming ? 0 : (model.instances[instance]?.reserve ?? 0)
    placement.copy(oldPrimary, ROW.primary)
    placement.removePrimary(ROW.primary, oldPrimary, instance, this.locationScore(oldPrimary, oldSecondary))
    keep(oldPrimary)
    if (oldSecondary !== NO_NODE) {
      placement.copy(oldSecondary, ROW.primary)
      placement.removeSecondary(ROW.primary, oldSecondary, instance, oldPrimary)
      keep(oldSecondary)
      this.changePeer(oldSecondary, oldPrimary, -reserve)
    }
    this.changeTags(instance, oldPrimary, -1)
    model.primary[instance] = NO_NODE
    placement.copy(primary, ROW.primary)
    placement.addPrimary(ROW.primary, primary, instance, this.locationScore(primary, secondary), SOFT)
    keep(primary)
    if (secondary !== NO_NODE) {
      placement.copy(secondary, ROW.primary)
      placement.addSecondary(ROW.primary, secondary, instance, primary, FAILED_OVER)
      keep(secondary)
      this.changePeer(secondary, primary, reserve)
    }
    this.changeTags(instance, primary, 1)
    model.primary[instance] = primary
    model.secondary[instance] = secondary
    if (primary !== oldPrimary) this.score.instanceMoved(instance, oldPrimary, primary)
  }

  private tryFailover(instance: number, primary: number, secondary: number, location: number): void {
    const offline = this.model.nodes[primary]?.offline === true
    const soft = this.leniencyFrom(primary)
    this.placement.copyRow(ROW.secondary, ROW.target)
    if (this.placement.addPrimary(ROW.target, secondary, instance, location, soft) !== Verdict.ok) return
    this.placement.copyRow(ROW.primary, ROW.other)
    const back = this.placement.addSecondary(ROW.other, primary, instance, secondary, offline ? FAILED_OVER : soft)
    if (back !== Verdict.ok) return
    this.differ(secondary, ROW.target, this.target)
    this.differ(primary, ROW.other, this.other)
    this.offer(instance, 'failover', secondary, primary, this.target, this.other, NOTHING)
  }

  private replacements(
    instance: number,
    primary: number,
    secondary: number,
    may: Replacements,
    mayFail: boolean,
  ): Kind[] {
    const reserve = this.model.instances[instance]?.reserve ?? 0
    const { emptied, freed, other } = this
    const replaceSecondary: Kind = {
      source: () => this.source(instance, primary, [freed], -this.locationScore(primary, secondary)),
      primary,
      attempt: (to) => this.tryReplaceSecondary(instance, primary, secondary, to),
    }
    // Where the node that keeps memory for the target is known but not how much: at least as for a node without any.
    const replaceAndFailover: Kind = {
      source: () => {
        this.placement.copyRow(ROW.primary, ROW.other)
        this.placement.addSecondary(ROW.other, primary, instance, NO_NODE, FAILED_OVER)
        this.differ(primary, ROW.other, other)
        return { ...this.source(instance, primary, [freed, other]), reservedAlso: { node: primary, more: reserve } }
      },
      primary: undefined,
      attempt: (to) => this.tryReplaceAndFailover(instance, primary, secondary, to),
    }
    const replacePrimary: Kind = {
      source: () => {
        this.placement.copyRow(ROW.secondary, ROW.other)
        this.placement.addSecondary(ROW.other, secondary, instance, NO_NODE, FAILED_OVER)
        this.differ(secondary, ROW.other, other)
        return { ...this.source(instance, primary, [emptied, other]), reservedAlso: { node: secondary, more: reserve } }
      },
      primary: undefined,
      attempt: (to) => this.tryReplacePrimary(instance, primary, secondary, to),
    }
    const failoverAndReplace: Kind = {
      source: () => {
        this.placement.copyRow(ROW.secondary, ROW.other)
        this.placement.addPrimary(ROW.other, secondary, instance, 0, SOFT)
        this.differ(secondary, ROW.other, other)
        return this.source(instance, primary, [emptied, other])
      },
      primary: secondary,
      attempt: (to) => this.tryFailoverAndReplace(instance, primary, secondary, to),
    }
    return [
      replaceSecondary,
      ...(may.replaceAndFailover ? [replaceAndFailover] : []),
      ...(may.replacePrimary && mayFail ? [replacePrimary] : []),
      ...(may.failoverAndReplace && mayFail ? [failoverAndReplace] : []),
    ]
  }

  /** What a move does besides what it does to its target, at the least. */
  private source(
    instance: number,
    primary: number,
    differences: readonly Float64Array[],
    linear = this.score.pairsAfter(instance, primary, NO_NODE),
  ): Source {
    return { differences, linear: differences.reduce((sum, one) => sum + (one[2 * SPREAD_COUNT] ?? 0), linear) }
  }

  private tryReplaceSecondary(instance: number, primary: number, secondary: number, to: number): void {
    const { placement } = this
    placement.copy(to, ROW.target)
    if (placement.addSecondary(ROW.target, to, instance, primary, this.leniencyFrom(secondary)) !== Verdict.ok) return
    this.differ(to, ROW.target, this.target)
    placement.copyRow(ROW.primary, ROW.other)
    const stays = placement.addPrimary(ROW.other, primary, instance, this.locationScore(primary, to), SOFT)
    if (stays !== Verdict.ok) return
    this.differ(primary, ROW.other, this.other)
    this.offer(instance, 'replace-secondary', primary, to, this.target, this.freed, this.other)
  }

  /** The target becomes primary, the old primary the secondary. */
  private tryReplaceAndFailover(instance: number, primary: number, secondary: number, to: number): void {
    const { placement } = this
    if (!this.mayMigrate(primary, to)) return
    placement.copy(to, ROW.target)
    const soft = this.lenient ? SOFT : STRICT
    if (placement.addPrimary(ROW.target, to, instance, this.locationScore(to, primary), soft) !== Verdict.ok) return
    placement.copyRow(ROW.primary, ROW.other)
    const stays = placement.addSecondary(ROW.other, primary, instance, to, this.leniencyFrom(secondary))
    if (stays !== Verdict.ok) return
    this.differ(to, ROW.target, this.target)
    this.differ(primary, ROW.other, this.other)
    this.offer(instance, 'replace-and-failover', to, primary, this.target, this.freed, this.other)
  }

  /** The target becomes primary, the secondary stays. */
  private tryReplacePrimary(instance: number, primary: number, secondary: number, to: number): void {
    const { placement } = this
    if (!this.mayMigrate(secondary, to)) return
    const soft = this.leniencyFrom(primary)
    const location = this.locationScore(to, secondary)
    placement.copy(to, ROW.target)
    if (placement.addPrimary(ROW.target, to, instance, location, soft) !== Verdict.ok) return
    // The secondary must be able to run it in between.
    placement.copyRow(ROW.secondary, ROW.other)
    if (placement.addPrimary(ROW.other, secondary, instance, location, soft) !== Verdict.ok) return
    placement.copyRow(ROW.secondary, ROW.other)
    if (placement.addSecondary(ROW.other, secondary, instance, to, soft) !== Verdict.ok) return
    this.differ(to, ROW.target, this.target)
    this.differ(secondary, ROW.other, this.other)
    this.offer(instance, 'replace-primary', to, secondary, this.target, this.emptied, this.other)
  }

  private tryFailoverAndReplace(instance: number, primary: number, secondary: number, to: number): void {
    const { placement } = this
    const soft = this.leniencyFrom(primary)
    placement.copyRow(ROW.secondary, ROW.other)
    const location = this.locationScore(secondary, to)
    if (placement.addPrimary(ROW.other, secondary, instance, location, soft) !== Verdict.ok) return
    placement.copy(to, ROW.target)
    if (placement.addSecondary(ROW.target, to, instance, secondary, soft) !== Verdict.ok) return
    this.differ(secondary, ROW.other, this.other)
    this.differ(to, ROW.target, this.target)
    this.offer(instance, 'failover-and-replace', secondary, to, this.target, this.emptied, this.other)
  }

  private begin(bound: number): void {
    this.best = undefined
    this.bound = bound
  }

  private offer(
    instance: number,
    kind: MoveKind,
    primary: number,
    secondary: number,
    one: Float64Array,
    two: Float64Array,
    three: Float64Array,
  ): void {
    const from = this.model.primary[instance] ?? NO_NODE
    const extra = from === primary ? 0 : this.score.pairsAfter(instance, from, primary)
    const score = this.score.after(this.bound, extra, one, two, three)
    if (score === Infinity) return
    this.bound = score
    this.best = { instance, kind, primary, secondary, score }
  }

  private differ(node: number, row: number, out: Float64Array): void {
    this.score.difference(node, this.placement.rows, row, out)
  }

  /** Soft limits count less than getting away from a node that is offline. */
  private leniencyFrom(node: number): Leniency {
    return this.lenient || this.model.nodes[node]?.offline === true ? SOFT : STRICT
  }

  private mayMigrate(from: number, to: number): boolean {
    const needed = this.model.nodes[from]?.migration
    if (needed === undefined || needed.size === 0) return true
    const receives = this.model.nodes[to]?.receives
    return [...needed].every((tag) => receives?.has(tag))
  }

  private locationScore(primary: number, secondary: number): number {
    return sharedLocations(this.model.nodes[primary], this.model.nodes[secondary])
  }

  private changePeer(node: number, primary: number, by: number): void {
    const peers = this.model.peers[node]
    const memory = (peers?.get(primary) ?? 0) + by
    if (memory > 0) {
      peers?.set(primary, memory)
      this.model.served[primary]?.add(node)
    } else {
      peers?.delete(primary)
      this.model.served[primary]?.delete(node)
    }
  }

  private changeTags(instance: number, node: number, by: 1 | -1): void {
    const counts = this.model.tagCounts[node]
    for (const tag of this.model.instances[instance]?.exclusion ?? []) {
      const count = (counts?.get(tag) ?? 0) + by
      if (count > 0) counts?.set(tag, count)
      else counts?.delete(tag)
    }
  }
}
