// The best move of one instance: every kind of move with every target, and the score that each leaves.
import { BOUNDED_TARGETS } from '../model/limits'
import { SLACK } from './bounds'
import { Changes } from './changes'
import { NO_NODE } from './cluster-data'
import { type ClusterModel, Col } from './cluster-model'
import { ExactScore, changedNode } from './exact-score'
import { type Kind, type MoveKind, MoveKinds } from './move-kinds'
import { Verdict } from './placement'
import type { OwnChanges } from './own-changes'
import { LINEAR, type Score } from './score'
import { type Effect, type Known, ORDERS, type Outcome, StepMemory, type TargetKind } from './step-memory'
import { type TargetChoice, type TargetSearch, Targets } from './targets'
import { SAME } from './ties'
import { Trials } from './trials'

export interface Move {
  readonly instance: number
  readonly kind: MoveKind
  readonly primary: number
  readonly secondary: number
  /** After it. */
  readonly score: number
}

export interface Found extends Move {
  readonly order: number
  readonly outcome: Outcome
}

export interface Replacements {
  /** Of an instance without a mirror whose disks all nodes have. */
  readonly failoverToAny: boolean
  /** Anything that copies disks. */
  readonly disks: boolean
  readonly failover: boolean
  readonly replaceAndFailover: boolean
  readonly replacePrimary: boolean
  readonly failoverAndReplace: boolean
}

/** Of moves that are as good but for rounding, Ganeti's, or any: then a search ends where nothing can be better by more than that. */
export type TieRule = 'told apart' | 'any'

/** Bounds are below what they are about by less than half of this. */
export const TIED = 4 * SLACK

export class Mover implements TargetSearch {
  private readonly kinds: MoveKinds
  private readonly changes: Changes
  private targets: TargetChoice
  private readonly exact: ExactScore
  private memory: StepMemory | undefined
  private readonly effects = new Map<string, Effect>()
  private best: Found | undefined
  private least = 0
  private readonly trying: Known[] = []
  private apart = true
  /** No move that was looked at last leaves less than this. */
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
    this.exact = new ExactScore(model, score)
    this.changes = new Changes(model, lenient)
  }

  /** The best move of an instance: with a mirror, first the failover alone, then with every target. */
  bestOf(instance: number, bound: number, may: Replacements, ties: TieRule): Found | undefined {
    this.begin(instance, bound, ties)
    const { kinds } = this
    if (may.failover) this.attempt(this.known(kinds.failover), kinds.secondary)
    this.lowest = this.best?.score ?? Infinity
    this.tryTargets(this.targeted(may))
    return this.best
  }

  /** Keeps what its moves do to its own nodes. */
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

  private targeted(may: Replacements): readonly Kind[] {
    const { kinds } = this
    if (may.failoverToAny) return [kinds.failoverToAny]
    if (!may.disks) return []
    const mayFail = kinds.trials.mayMigrate(kinds.primary, kinds.secondary)
    return [
      kinds.replaceSecondary,
      ...(may.replaceAndFailover ? [kinds.replaceAndFailover] : []),
      ...(may.replacePrimary && mayFail ? [kinds.replacePrimary] : []),
      ...(may.failoverAndReplace && mayFail ? [kinds.failoverAndReplace] : []),
    ]
  }

  /** Makes the move; what was counted anew for trials is counted for good. */
  apply({ instance, primary, secondary }: Move): void {
    const [from, mirror] = [this.model.primary[instance] ?? NO_NODE, this.model.secondary[instance] ?? NO_NODE]
    this.changes.place(instance, primary, secondary)
    this.score.instanceMoved(instance, from, primary)
    this.effects.clear()
    this.memory?.moved([from, mirror, primary, secondary].filter((node) => node !== NO_NODE))
  }

  /** Whether it leaves less, also where it is as good but for rounding. */
  isBetter(one: Found, other: Found): boolean {
    return Math.abs(one.score - other.score) < SAME
      ? this.exactlyOf(one) < this.exactlyOf(other)
      : one.score < other.score
  }

  /** From now on targets are chosen otherwise, and no work is shared between instances that are alike. */
  choose(targets: TargetChoice): void {
    this.targets = targets
    this.memory = undefined
  }

  /** Whether targets are left out. */
  get weighed(): boolean {
    return this.targets.weighed
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

  isHopeless({ outcomes }: Known, { id }: TargetKind): boolean {
    const outcome = outcomes?.get(id)
    return outcome !== undefined && outcome.score >= this.limit() && outcome.limit >= this.limit()
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

  /** What a move must leave less than. */
  private limit(): number {
    return this.apart && this.best !== undefined ? this.least + SAME : this.least
  }

  attempt(known: Known, to: number): void {
    const { kind } = known
    const { best, apart } = this
    const outcome = this.outcome(known, to)
    const { score } = outcome
    if (score >= this.limit()) return
    const { instance } = this.kinds
    const [primary, secondary] = [kind.primaryAfter(to), kind.secondaryAfter(to)]
    const order = kind.order < 0 ? -1 : to * ORDERS + kind.order
    // Targets are not tried in order: of moves that are as good, Ganeti takes the first.
    if (apart && best !== undefined) {
      if (Math.abs(score - best.score) < SAME) {
        const less = this.exactly(outcome, instance, primary, secondary) - this.exactlyOf(best)
        if (less > 0 || (less === 0 && best.order < order)) return
      } else if (score > best.score) return
    }
    this.least = Math.min(this.least, score)
    this.best = { instance, kind: kind.name, primary, secondary, score, order, outcome }
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

  private exactlyOf({ outcome, instance, primary, secondary }: Found): number {
    return this.exactly(outcome, instance, primary, secondary)
  }

  private exactly(outcome: Outcome, instance: number, primary: number, secondary: number): number {
    const effect = (outcome.effect ??= this.effectOf(instance, primary, secondary))
    const { model } = this
    const nodeAt = (place: number) => {
      if (place > 1) return place === 2 ? primary : secondary
      return (place === 0 ? model.primary : model.secondary)[instance] ?? NO_NODE
    }
    let key = 0
    for (const { place } of effect.changed) key = key * model.nodes.length + nodeAt(place)
    const known = effect.exact.get(key)
    if (known !== undefined) return known
    const changed = effect.changed.map(({ place, ...what }) => ({ ...what, node: nodeAt(place) }))
    const score = this.exact.after(changed, effect.pairs, true)
    effect.exact.set(key, score)
    return score
  }

  /** What it does to the nodes that it changes. */
  private effectOf(instance: number, primary: number, secondary: number): Effect {
    const { model, changes, score } = this
    const [mark, { version }] = [changes.mark(), model]
    const from = model.primary[instance] ?? NO_NODE
    const nodes = [from, model.secondary[instance] ?? NO_NODE, primary, secondary]
    const pairs = score.pairsAfter(instance, from, primary)
    const places = [...nodes.keys()].filter((at) => nodes[at] !== NO_NODE && nodes.indexOf(nodes[at] ?? NO_NODE) === at)
    changes.place(instance, primary, secondary)
    const after = places.map((place) => {
      const node = nodes[place] ?? NO_NODE
      return { place, ...changedNode(model, node, model.rows, node * Col.Width) }
    })
    changes.undo(mark)
    // It is as it was.
    model.version = version
    const changed = after.filter((one) => this.exact.differs(one))
    const key = JSON.stringify([pairs, changed.map(({ place, spreads, counted }) => [place, [...spreads], counted])])
    const known = this.effects.get(key) ?? { changed, pairs, exact: new Map() }
    this.effects.set(key, known)
    return known
  }
}

const IMPOSSIBLE: Outcome = { score: Infinity, limit: Infinity }
