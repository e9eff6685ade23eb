// The best move of one instance: tries every kind of move with every target.
import { BOUNDED_TARGETS } from '../../model/limits/allocation'
import { SLACK } from './bounds'
import { Changes } from '../model/changes'
import { NO_NODE } from '../model/cluster-data'
import type { ClusterModel } from '../model/cluster-model'
import { Effects, type Outcome } from './effects'
import type { AlikeNodes } from '../model/exact-columns'
import { type Kind, type MoveKind, MoveKinds } from './move-kinds'
import { Verdict } from '../model/placement'
import type { OwnChanges } from './own-changes'
import { LINEAR, type Score } from '../model/score'
import { type Known, ORDERS, StepMemory, type TargetKind } from './step-memory'
import { type TargetChoice, type TargetSearch, Targets } from './targets'
import { SAME } from '../model/ties'
import { Trials } from '../model/trials'

export interface Move {
  readonly instance: number
  readonly kind: MoveKind
  readonly primary: number
  readonly secondary: number
  /** The score after the move. */
  readonly score: number
}

export interface Found extends Move {
  readonly order: number
  readonly outcome: Outcome
  /** None for a failover. */
  readonly target: number
  /** To Ganeti's last bit, once somebody has asked for it. */
  exact: number | undefined
}

export interface Replacements {
  /** Failovers of an instance whose disks all nodes reach. */
  readonly failoverToAny: boolean
  /** Moves that copy disks. */
  readonly disks: boolean
  readonly failover: boolean
  readonly replaceAndFailover: boolean
  readonly replacePrimary: boolean
  readonly failoverAndReplace: boolean
}

/**
 * Among moves that only differ by rounding, takes Ganeti's choice (`told apart`) or any: then a search ends when
 * nothing can be better by more than rounding.
 */
export type TieRule = 'told apart' | 'any'

/** Bounds are too low by less than half of this. */
export const TIED = 4 * SLACK

export class Mover implements TargetSearch {
  private readonly kinds: MoveKinds
  private readonly changes: Changes
  private targets: TargetChoice
  private readonly effects: Effects
  private memory: StepMemory | undefined
  private best: Found | undefined
  private least = 0
  private readonly wanted: Kind[] = []
  private readonly trying: Known[] = []
  private apart = true
  /** None of the moves considered last leaves less than this. */
  lowest = Infinity

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    lenient: boolean,
    targets: readonly number[],
    boundedFrom = BOUNDED_TARGETS,
  ) {
    this.targets = new Targets(model, score, targets, boundedFrom)
    this.memory = this.targets.weighed ? new StepMemory(model, targets) : undefined
    this.kinds = new MoveKinds(model, score, new Trials(model, lenient))
    this.effects = new Effects(model, score)
    this.changes = new Changes(model, lenient)
  }

  /** The best move of an instance. If it is mirrored: first the failover alone, then every target. */
  bestOf(instance: number, bound: number, may: Replacements, ties: TieRule): Found | undefined {
    this.begin(instance, bound, ties)
    const { kinds } = this
    if (may.failover) this.attempt(this.known(kinds.failover), kinds.secondary)
    this.lowest = this.best?.score ?? Infinity
    this.tryTargets(this.targeted(may))
    return this.best
  }

  /** Stores the effects of its moves on its own nodes. */
  outline(instance: number, may: Replacements, own: OwnChanges): void {
    this.begin(instance, Infinity, 'any')
    const { kinds } = this
    if (may.failover && kinds.failover.attempt(kinds.secondary) === Verdict.ok) {
      const [target, other] = kinds.differences
      const linear = (target[LINEAR] ?? 0) + (other[LINEAR] ?? 0)
      own.keep(instance, kinds.failover.place, { differences: [target, other], linear, more: 0 })
    }
    for (const kind of this.targeted(may)) {
      const { differences, linear, reservedAlso } = kind.source()
      own.keep(instance, kind.place, { differences, linear, more: reservedAlso?.more ?? 0 })
    }
  }

  /** Kinds with a target; valid until the next call. */
  private targeted(may: Replacements): readonly Kind[] {
    const { kinds, wanted: desired } = this
    desired.length = 0
    if (may.failoverToAny) desired.push(kinds.failoverToAny)
    else if (may.disks) {
      const mayFail = kinds.trials.mayMigrate(kinds.primary, kinds.secondary)
      desired.push(kinds.replaceSecondary)
      if (may.replaceAndFailover) desired.push(kinds.replaceAndFailover)
      if (may.replacePrimary && mayFail) desired.push(kinds.replacePrimary)
      if (may.failoverAndReplace && mayFail) desired.push(kinds.failoverAndReplace)
    }
    return desired
  }

  /** Makes the move. Sums that were recomputed for trials are now recomputed for good. */
  apply({ instance, primary, secondary }: Move): void {
    const [from, mirror] = [this.model.primary[instance] ?? NO_NODE, this.model.secondary[instance] ?? NO_NODE]
    this.changes.place(instance, primary, secondary)
    this.score.instanceMoved(instance, from, primary)
    this.effects.forget()
    this.memory?.moved([from, mirror, primary, secondary].filter((node) => node !== NO_NODE))
  }

  /** Whether it leaves a lower score, also if they only differ by rounding. */
  isBetter(one: Found, other: Found): boolean {
    return Math.abs(one.score - other.score) < SAME ? this.exactly(one) < this.exactly(other) : one.score < other.score
  }

  /** From now on chooses targets differently, and shares no work between alike instances. */
  choose(targets: TargetChoice): void {
    this.targets = targets
    this.memory = undefined
  }

  /** Whether some targets are skipped. */
  get weighed(): boolean {
    return this.targets.weighed
  }

  likeOf(instance: number): number {
    return this.memory?.likeOf(instance) ?? instance
  }

  private begin(instance: number, bound: number, ties: TieRule): void {
    this.best = undefined
    this.least = bound
    this.apart = ties === 'told apart'
    this.lowest = Infinity
    this.kinds.begin(instance)
  }

  get instance(): number {
    return this.kinds.instance
  }

  bound(): number {
    return this.apart ? this.least : this.least - TIED
  }

  excludes(to: number): boolean {
    return to === this.kinds.primary || to === this.kinds.secondary
  }

  targetKinds(): readonly TargetKind[] {
    return this.memory?.targetKinds() ?? []
  }

  private known(kind: Kind): Known {
    return this.memory?.of(this.kinds.instance, kind) ?? { kind, floor: undefined, outcomes: undefined, step: 0 }
  }

  private tryTargets(kinds: readonly Kind[]): void {
    const { trying } = this
    trying.length = 0
    for (const kind of kinds) trying.push(this.known(kind))
    this.lowest = Math.min(this.lowest, this.targets.each(this, trying))
  }

  /** A move must leave a lower score than this. */
  private limit(): number {
    return this.apart && this.best !== undefined ? this.least + SAME : this.least
  }

  attempt(known: Known, to: number): void {
    const outcome = this.outcome(known, to)
    if (outcome.score < this.limit()) this.take(this.found(known.kind, to, outcome))
  }

  /** The target with the lowest score to the last bit stands for all alike targets that keep no memory. */
  attemptAlike(known: Known, targets: TargetKind): void {
    const { kind } = known
    let found: Found | undefined
    let scores: Float64Array | undefined
    for (let at = 0; at < targets.nodes.length; at++) {
      const to = targets.nodes[at] ?? NO_NODE
      if (this.excludes(to)) continue
      if (kind.kept(to) > 0) {
        this.attempt(known, to)
        continue
      }
      if (found === undefined) {
        const outcome = this.outcome(known, to)
        if (outcome.score >= this.limit()) return
        found = this.found(kind, to, outcome)
        if (!this.apart) break
        continue
      }
      scores ??= this.effects.among(found, targets)
      const exact = scores[at] ?? Infinity
      if (exact >= this.exactly(found)) continue
      found = this.found(kind, to, found.outcome)
      found.exact = exact
    }
    if (found !== undefined) this.take(found)
  }

  private found(kind: Kind, to: number, outcome: Outcome): Found {
    return {
      instance: this.kinds.instance,
      kind: kind.name,
      primary: kind.primaryAfter(to),
      secondary: kind.secondaryAfter(to),
      score: outcome.score,
      order: kind.order < 0 ? -1 : to * ORDERS + kind.order,
      outcome,
      target: kind.order < 0 ? NO_NODE : to,
      exact: undefined,
    }
  }

  private take(found: Found): void {
    const { best, apart } = this
    // Targets are not tried in order, but Ganeti takes the first of equal moves.
    if (apart && best !== undefined) {
      if (best.order === found.order) return
      if (Math.abs(found.score - best.score) < SAME) {
        const less = this.exactly(found) - this.exactly(best)
        if (less > 0 || (less === 0 && best.order < found.order)) return
      } else if (found.score > best.score) return
    }
    this.least = Math.min(this.least, found.score)
    this.best = found
  }

  private outcome(same: Known, to: number): Outcome {
    const { kind } = same
    const limit = this.least + 2 * SAME
    if (this.memory === undefined) return this.tryOut(kind, to, limit)
    const outcomes = (same.outcomes ??= new Map<number, Outcome>())
    const key = this.memory.targetKey(kind, to)
    const known = outcomes.get(key)
    if (known !== undefined && (known.score < Infinity || known.limit >= limit)) return known
    const found = this.tryOut(kind, to, limit)
    outcomes.set(key, found)
    return found
  }

  private tryOut(kind: Kind, to: number, limit: number): Outcome {
    const { kinds } = this
    if (kind.attempt(to) !== Verdict.ok) return IMPOSSIBLE
    const primary = kind.primaryAfter(to)
    const extra = primary === kinds.primary ? 0 : this.score.pairsAfter(kinds.instance, kinds.primary, primary)
    return { score: this.score.after(limit, extra, ...kinds.differences), limit }
  }

  private exactly(found: Found): number {
    const { target } = found
    if (found.exact !== undefined) return found.exact
    const alike = target === NO_NODE ? ALONE : (this.memory?.alikeTo(target) ?? { index: target, nodes: [target] })
    return (found.exact = this.effects.among(found, alike)[alike.nodes.indexOf(target)] ?? NaN)
  }
}

const ALONE: AlikeNodes = { index: -1, nodes: [NO_NODE] }
const IMPOSSIBLE: Outcome = { score: Infinity, limit: Infinity }
