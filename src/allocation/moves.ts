// The best move of one instance: every kind of move with every target, and the score that each leaves.
import { BOUNDED_TARGETS } from '../model/limits'
import type { Source } from './bounds'
import { Changes } from './changes'
import { NO_NODE } from './cluster-data'
import { type ClusterModel, Col } from './cluster-model'
import { ExactScore, changedNode } from './exact-score'
import { FAILED_OVER, SOFT, Verdict } from './placement'
import { type Score, SPREAD_COUNT } from './score'
import { type Kind, Targets } from './targets'
import { SAME } from './ties'
import { ROW, Trials } from './trials'

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

const KINDS: readonly MoveKind[] = [
  'failover-to-any',
  'replace-secondary',
  'replace-and-failover',
  'replace-primary',
  'failover-and-replace',
]

/** Where Ganeti tries it: a failover first, then target by target every kind. */
function orderOf({ kind, primary, secondary }: Move): number {
  if (kind === 'failover') return -1
  const target = kind === 'replace-secondary' || kind === 'failover-and-replace' ? secondary : primary
  return target * KINDS.length + KINDS.indexOf(kind)
}

const NOTHING = new Float64Array(2 * SPREAD_COUNT + 1)
const difference = () => new Float64Array(2 * SPREAD_COUNT + 1)

export class Mover {
  private readonly trials: Trials
  private readonly changes: Changes
  private readonly emptied = difference()
  private readonly freed = difference()
  private readonly other = difference()
  private readonly target = difference()
  private readonly targets: Targets
  private readonly exact: ExactScore
  /** While nothing is moved. */
  private exacts = new Map<Move, number>()
  private best: Move | undefined
  private bound = 0

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    lenient: boolean,
    targets: readonly number[],
    boundedFrom = BOUNDED_TARGETS,
  ) {
    this.targets = new Targets(model, score, targets, boundedFrom)
    this.trials = new Trials(model, lenient)
    this.exact = new ExactScore(model, score)
    this.changes = new Changes(model, lenient)
  }

  bestFailoverToAny(instance: number, bound: number): Move | undefined {
    this.begin(instance, bound)
    const { trials } = this
    this.tryTargets([
      {
        source: () => this.source([this.emptied]),
        primary: undefined,
        attempt: (to) => {
          if (trials.failoverToAny(to) !== Verdict.ok) return
          this.differ(to, ROW.target, this.target)
          this.offer('failover-to-any', to, trials.secondary, this.emptied, this.target, NOTHING)
        },
      },
    ])
    return this.best
  }

  /** The best move of an instance with a mirror: first the failover alone, then with every target. */
  bestReplacement(instance: number, bound: number, may: Replacements): Move | undefined {
    this.begin(instance, bound)
    this.differ(this.trials.secondary, ROW.secondary, this.freed)
    if (may.failover) this.tryFailover()
    if (!may.disks) return this.best
    const mayFail = this.trials.mayMigrate(this.trials.primary, this.trials.secondary)
    this.tryTargets([
      this.replaceSecondary(),
      ...(may.replaceAndFailover ? [this.replaceAndFailover()] : []),
      ...(may.replacePrimary && mayFail ? [this.replacePrimary()] : []),
      ...(may.failoverAndReplace && mayFail ? [this.failoverAndReplace()] : []),
    ])
    return this.best
  }

  /** Makes the move; what was counted anew for trials is counted for good. */
  apply({ instance, primary, secondary }: Move): void {
    const from = this.model.primary[instance] ?? NO_NODE
    this.changes.place(instance, primary, secondary)
    this.score.instanceMoved(instance, from, primary)
    this.exacts.clear()
  }

  /** Whether it leaves less, also where it is as good but for rounding. */
  isBetter(one: Move, other: Move): boolean {
    return Math.abs(one.score - other.score) < SAME ? this.exactly(one) < this.exactly(other) : one.score < other.score
  }

  private exactly(move: Move): number {
    const known = this.exacts.get(move) ?? this.scoreAfter(move)
    this.exacts.set(move, known)
    return known
  }

  private scoreAfter({ instance, primary, secondary }: Move): number {
    const { model, changes, score } = this
    const [from, mark, { version }] = [model.primary[instance] ?? NO_NODE, changes.mark(), model]
    const pairs = score.pairsAfter(instance, from, primary)
    const nodes = new Set([from, model.secondary[instance] ?? NO_NODE, primary, secondary])
    nodes.delete(NO_NODE)
    changes.place(instance, primary, secondary)
    const changed = [...nodes].map((node) => changedNode(model, node, model.rows, node * Col.Width))
    changes.undo(mark)
    // It is as it was.
    model.version = version
    return this.exact.after(changed, pairs, true)
  }

  private begin(instance: number, bound: number): void {
    this.best = undefined
    this.bound = bound
    this.trials.begin(instance)
    this.differ(this.trials.primary, ROW.primary, this.emptied)
  }

  private tryTargets(kinds: readonly Kind[]): void {
    const { instance, primary, secondary } = this.trials
    this.targets.each({ instance, without: [primary, secondary], bound: () => this.bound }, kinds)
  }

  private tryFailover(): void {
    const { trials } = this
    if (trials.failover() !== Verdict.ok) return
    this.differ(trials.secondary, ROW.target, this.target)
    this.differ(trials.primary, ROW.other, this.other)
    this.offer('failover', trials.secondary, trials.primary, this.target, this.other, NOTHING)
  }

  private replaceSecondary(): Kind {
    const { trials } = this
    const { primary, secondary } = trials
    return {
      source: () => this.source([this.freed], -trials.shared(primary, secondary)),
      primary,
      attempt: (to) => {
        if (trials.replaceSecondary(to) !== Verdict.ok) return
        this.differ(to, ROW.target, this.target)
        this.differ(primary, ROW.other, this.other)
        this.offer('replace-secondary', primary, to, this.target, this.freed, this.other)
      },
    }
  }

  private replaceAndFailover(): Kind {
    const { trials } = this
    const { primary } = trials
    return {
      source: () => this.keepsFor(primary, ROW.primary, this.freed),
      primary: undefined,
      attempt: (to) => {
        if (trials.replaceAndFailover(to) !== Verdict.ok) return
        this.differ(to, ROW.target, this.target)
        this.differ(primary, ROW.other, this.other)
        this.offer('replace-and-failover', to, primary, this.target, this.freed, this.other)
      },
    }
  }

  private replacePrimary(): Kind {
    const { trials } = this
    const { secondary } = trials
    return {
      source: () => this.keepsFor(secondary, ROW.secondary, this.emptied),
      primary: undefined,
      attempt: (to) => {
        if (trials.replacePrimary(to) !== Verdict.ok) return
        this.differ(to, ROW.target, this.target)
        this.differ(secondary, ROW.other, this.other)
        this.offer('replace-primary', to, secondary, this.target, this.emptied, this.other)
      },
    }
  }

  private failoverAndReplace(): Kind {
    const { trials } = this
    const { placement, instance, secondary } = trials
    return {
      source: () => {
        placement.copyRow(ROW.secondary, ROW.other)
        placement.addPrimary(ROW.other, secondary, instance, 0, SOFT)
        this.differ(secondary, ROW.other, this.other)
        return this.source([this.emptied, this.other])
      },
      primary: secondary,
      attempt: (to) => {
        if (trials.failoverAndReplace(to) !== Verdict.ok) return
        this.differ(secondary, ROW.other, this.other)
        this.differ(to, ROW.target, this.target)
        this.offer('failover-and-replace', secondary, to, this.target, this.emptied, this.other)
      },
    }
  }

  /** What a move does besides what it does to its target, at the least. */
  private source(
    differences: readonly Float64Array[],
    linear = this.score.pairsAfter(this.trials.instance, this.trials.primary, NO_NODE),
  ): Source {
    return { differences, linear: differences.reduce((sum, one) => sum + (one[2 * SPREAD_COUNT] ?? 0), linear) }
  }

  /** The node keeps memory for the target then. How much more is not known: at least as much as for a node without any. */
  private keepsFor(node: number, row: number, left: Float64Array): Source {
    const { placement, instance } = this.trials
    placement.copyRow(row, ROW.other)
    placement.addSecondary(ROW.other, node, instance, NO_NODE, FAILED_OVER)
    this.differ(node, ROW.other, this.other)
    const more = this.model.instances[instance]?.reserve ?? 0
    return { ...this.source([left, this.other]), reservedAlso: { node, more } }
  }

  private offer(
    kind: MoveKind,
    primary: number,
    secondary: number,
    one: Float64Array,
    two: Float64Array,
    three: Float64Array,
  ): void {
    const { instance, primary: from } = this.trials
    const extra = from === primary ? 0 : this.score.pairsAfter(instance, from, primary)
    const move: Move = { instance, kind, primary, secondary, score: 0 }
    const { best } = this
    const score = this.score.after(best === undefined ? this.bound : this.bound + SAME, extra, one, two, three)
    if (score === Infinity) return
    // Targets are not tried in order: of moves that are as good, Ganeti takes the first.
    const found = { ...move, score }
    if (best !== undefined && !this.isBetter(found, best)) {
      if (orderOf(best) < orderOf(move) || this.isBetter(best, found)) return
    }
    this.bound = Math.min(this.bound, score)
    this.best = found
  }

  private differ(node: number, row: number, out: Float64Array): void {
    this.score.difference(node, this.trials.placement.rows, row, out)
  }
}
