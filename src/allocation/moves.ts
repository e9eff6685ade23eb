// Moves of one instance: failover, replacing a node, and both together. Tried on copies of the rows of the nodes they touch; the
// one that is taken changes the model.
import { NO_NODE } from './cluster-data'
import { type ClusterModel, Col, sharedLocations } from './cluster-model'
import { FAILED_OVER, type Leniency, Placement, SOFT, STRICT, Verdict } from './placement'
import { type Score, SPREAD_COUNT } from './score'

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
  targetPrimary: 3 * Col.Width,
  target: 4 * Col.Width,
}

const NOTHING = new Float64Array(2 * SPREAD_COUNT + 1)
const difference = () => new Float64Array(2 * SPREAD_COUNT + 1)

export class Mover {
  private readonly placement: Placement
  private readonly emptied = difference()
  private readonly freed = difference()
  private readonly other = difference()
  private readonly target = difference()
  private readonly targetPrimary = difference()
  private best: Move | undefined
  private bound = 0

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    private readonly lenient: boolean,
  ) {
    this.placement = new Placement(model, new Float64Array(5 * Col.Width))
  }

  bestFailoverToAny(instance: number, targets: readonly number[], bound: number): Move | undefined {
    this.begin(bound)
    const primary = this.model.primary[instance] ?? NO_NODE
    const secondary = this.model.secondary[instance] ?? NO_NODE
    const soft = this.leniencyFrom(primary)
    this.placement.copy(primary, ROW.primary)
    const location = this.locationScore(primary, secondary)
    this.placement.removePrimary(ROW.primary, primary, instance, location)
    this.differ(primary, ROW.primary, this.emptied)
    for (const to of targets) {
      if (to === primary || to === secondary || !this.mayMigrate(primary, to)) continue
      this.placement.copy(to, ROW.target)
      if (this.placement.addPrimary(ROW.target, to, instance, location, soft) !== Verdict.ok) continue
      this.differ(to, ROW.target, this.target)
      this.offer(instance, 'failover-to-any', to, secondary, this.emptied, this.target, NOTHING)
    }
    return this.best
  }

  /** The best move of an instance with a mirror: first the failover alone, then with every target. */
  bestReplacement(instance: number, targets: readonly number[], bound: number, may: Replacements): Move | undefined {
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
    for (const to of targets) {
      if (to === primary || to === secondary) continue
      this.tryReplaceSecondary(instance, primary, secondary, to)
      if (may.replaceAndFailover || may.replacePrimary)
        this.tryNewPrimary(instance, primary, secondary, to, may, mayFail)
      if (may.failoverAndReplace && mayFail) this.tryFailoverAndReplace(instance, primary, secondary, to)
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

  /** The target becomes primary; the old primary or the old secondary is the secondary then. */
  private tryNewPrimary(
    instance: number,
    primary: number,
    secondary: number,
    to: number,
    may: Replacements,
    mayFail: boolean,
  ): void {
    const { placement } = this
    const soft = this.leniencyFrom(primary)
    if (may.replaceAndFailover && this.mayMigrate(primary, to)) {
      const ownSoft = this.lenient ? SOFT : STRICT
      placement.copy(to, ROW.targetPrimary)
      const location = this.locationScore(to, primary)
      const verdict = placement.addPrimary(ROW.targetPrimary, to, instance, location, ownSoft)
      placement.copyRow(ROW.primary, ROW.other)
      const force = this.leniencyFrom(secondary)
      if (verdict === Verdict.ok && placement.addSecondary(ROW.other, primary, instance, to, force) === Verdict.ok) {
        this.differ(to, ROW.targetPrimary, this.targetPrimary)
        this.differ(primary, ROW.other, this.other)
        this.offer(instance, 'replace-and-failover', to, primary, this.targetPrimary, this.freed, this.other)
      }
    }
    if (!may.replacePrimary || !mayFail || !this.mayMigrate(secondary, to)) return
    const location = this.locationScore(to, secondary)
    // The secondary must be able to run it in between.
    placement.copyRow(ROW.secondary, ROW.other)
    if (placement.addPrimary(ROW.other, secondary, instance, location, soft) !== Verdict.ok) return
    placement.copy(to, ROW.targetPrimary)
    if (placement.addPrimary(ROW.targetPrimary, to, instance, location, soft) !== Verdict.ok) return
    placement.copyRow(ROW.secondary, ROW.other)
    if (placement.addSecondary(ROW.other, secondary, instance, to, soft) !== Verdict.ok) return
    this.differ(to, ROW.targetPrimary, this.targetPrimary)
    this.differ(secondary, ROW.other, this.other)
    this.offer(instance, 'replace-primary', to, secondary, this.targetPrimary, this.emptied, this.other)
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
    if (memory > 0) peers?.set(primary, memory)
    else peers?.delete(primary)
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
