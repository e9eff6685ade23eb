// Every kind of move of one instance: its effect on the source and, tried on copies of the rows, on a target.
import type { Source } from './bounds'
import { NO_NODE } from '../model/cluster-data'
import type { ClusterModel } from '../model/cluster-model'
import { type Leniency, Verdict } from '../model/placement'
import { LINEAR, NO_DIFFERENCE, type Score, newDifference } from '../model/score'
import { ROW, type Trials } from '../model/trials'

export type MoveKind =
  | 'failover'
  | 'failover-to-any'
  | 'replace-secondary'
  | 'replace-and-failover'
  | 'failover-and-replace'
  | 'replace-primary'

export interface Kind {
  readonly name: MoveKind
  /** Ganeti's order: a failover first, then every kind for each target. */
  readonly order: number
  /** Its index among the stored kinds of an instance's moves; unique within an instance. */
  readonly place: number
  /** Whether the target becomes the primary. */
  readonly asPrimary: boolean
  /** The nodes after the move. */
  primaryAfter(to: number): number
  secondaryAfter(to: number): number
  /** The least effect, except on its target; infinite if no target is possible. */
  source(): Source
  /** The memory that the new secondary already keeps for its new primary. */
  kept(to: number): number
  /** Targets for which that is not zero. */
  special(): Iterable<number>
  /** Writes the change to `differences`. */
  attempt(to: number): Verdict
}

/** The kinds of moves of the current instance. */
export class MoveKinds {
  instance = -1
  primary = NO_NODE
  secondary = NO_NODE
  /** The amounts that the nodes lose when the instance leaves. */
  private readonly emptied = newDifference()
  private readonly freed = newDifference()
  private readonly other = newDifference()
  private readonly target = newDifference()
  differences: readonly [Float64Array, Float64Array, Float64Array] = [NO_DIFFERENCE, NO_DIFFERENCE, NO_DIFFERENCE]
  private begun = false

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
    readonly trials: Trials,
  ) {}

  begin(instance: number): void {
    this.instance = instance
    this.primary = this.model.primary[instance] ?? NO_NODE
    this.secondary = this.model.secondary[instance] ?? NO_NODE
    this.begun = false
  }

  readonly failover: Kind = {
    ...{ name: 'failover', order: -1, place: 0, asPrimary: true },
    primaryAfter: () => this.secondary,
    secondaryAfter: () => this.primary,
    kept: () => 0,
    special: () => [],
    source: () => this.source([]),
    attempt: () => {
      this.start()
      const verdict = this.trials.failover()
      if (verdict !== Verdict.ok) return verdict
      this.differ(this.secondary, ROW.target, this.target)
      this.differ(this.primary, ROW.other, this.other)
      this.differences = [this.target, this.other, NO_DIFFERENCE]
      return verdict
    },
  }

  readonly failoverToAny: Kind = {
    ...{ name: 'failover-to-any', order: 0, place: 4, asPrimary: true },
    primaryAfter: (to) => to,
    secondaryAfter: () => this.secondary,
    kept: () => 0,
    special: () => [],
    source: () => {
      this.start()
      return this.source([this.emptied])
    },
    attempt: (to) => {
      this.start()
      const verdict = this.trials.failoverToAny(to)
      if (verdict !== Verdict.ok) return verdict
      this.differ(to, ROW.target, this.target)
      this.differences = [this.emptied, this.target, NO_DIFFERENCE]
      return verdict
    },
  }

  readonly replaceSecondary: Kind = {
    ...{ name: 'replace-secondary', order: 1, place: 2, asPrimary: false },
    primaryAfter: () => this.primary,
    secondaryAfter: (to) => to,
    kept: (to) => this.keeps(to, this.primary),
    special: () => this.model.served[this.primary] ?? [],
    source: () => {
      this.start()
      return this.source([this.freed], -this.trials.shared(this.primary, this.secondary))
    },
    attempt: (to) => {
      this.start()
      const verdict = this.trials.replaceSecondary(to)
      if (verdict !== Verdict.ok) return verdict
      this.differ(to, ROW.target, this.target)
      this.differ(this.primary, ROW.other, this.other)
      this.differences = [this.target, this.freed, this.other]
      return verdict
    },
  }

  readonly replaceAndFailover: Kind = {
    ...{ name: 'replace-and-failover', order: 2, place: 3, asPrimary: true },
    primaryAfter: (to) => to,
    secondaryAfter: () => this.primary,
    kept: (to) => this.keeps(this.primary, to),
    special: () => this.model.peers[this.primary]?.keys() ?? [],
    source: () => this.keepsFor(this.primary, ROW.primary, this.freed, this.trials.leniencyFrom(this.secondary)),
    attempt: (to) => {
      this.start()
      const verdict = this.trials.replaceAndFailover(to)
      if (verdict !== Verdict.ok) return verdict
      this.differ(to, ROW.target, this.target)
      this.differ(this.primary, ROW.other, this.other)
      this.differences = [this.target, this.freed, this.other]
      return verdict
    },
  }

  readonly replacePrimary: Kind = {
    ...{ name: 'replace-primary', order: 3, place: 4, asPrimary: true },
    primaryAfter: (to) => to,
    secondaryAfter: () => this.secondary,
    kept: (to) => this.keeps(this.secondary, to),
    special: () => this.model.peers[this.secondary]?.keys() ?? [],
    source: () => {
      this.start()
      const soft = this.trials.leniencyFrom(this.primary)
      return this.runsOnSecondary(soft) ? this.keepsFor(this.secondary, ROW.secondary, this.emptied, soft) : IMPOSSIBLE
    },
    attempt: (to) => {
      this.start()
      const verdict = this.trials.replacePrimary(to)
      if (verdict !== Verdict.ok) return verdict
      this.differ(to, ROW.target, this.target)
      this.differ(this.secondary, ROW.other, this.other)
      this.differences = [this.target, this.emptied, this.other]
      return verdict
    },
  }

  readonly failoverAndReplace: Kind = {
    ...{ name: 'failover-and-replace', order: 4, place: 1, asPrimary: false },
    primaryAfter: () => this.secondary,
    secondaryAfter: (to) => to,
    kept: (to) => this.keeps(to, this.secondary),
    special: () => this.model.served[this.secondary] ?? [],
    source: () => {
      this.start()
      if (!this.runsOnSecondary(this.trials.leniencyFrom(this.primary))) return IMPOSSIBLE
      this.differ(this.secondary, ROW.other, this.other)
      return this.source([this.emptied, this.other])
    },
    attempt: (to) => {
      this.start()
      const verdict = this.trials.failoverAndReplace(to)
      if (verdict !== Verdict.ok) return verdict
      this.differ(this.secondary, ROW.other, this.other)
      this.differ(to, ROW.target, this.target)
      this.differences = [this.target, this.emptied, this.other]
      return verdict
    },
  }

  /** Takes the instance off its nodes, if not done yet. */
  private start(): void {
    if (this.begun) return
    this.begun = true
    this.trials.begin(this.instance)
    this.differ(this.primary, ROW.primary, this.emptied)
    if (this.secondary !== NO_NODE) this.differ(this.secondary, ROW.secondary, this.freed)
  }

  private source(
    differences: Source['differences'],
    linear = this.score.pairsAfter(this.instance, this.primary, NO_NODE),
  ): Source {
    let sum = linear
    for (const one of differences) sum += one[LINEAR] ?? 0
    return { differences, linear: sum }
  }

  /** Leaves the secondary, as the new primary, in `other`. */
  private runsOnSecondary(leniency: Leniency): boolean {
    const { placement } = this.trials
    placement.copyRow(ROW.secondary, ROW.other)
    return placement.addPrimary(ROW.other, this.secondary, this.instance, 0, leniency) === Verdict.ok
  }

  /**
   * The node then keeps memory for the target. How much more is unknown: at least as much as for a node without any.
   */
  private keepsFor(node: number, row: number, left: Float64Array, leniency: Leniency): Source {
    this.start()
    const { placement } = this.trials
    placement.copyRow(row, ROW.other)
    const goes = placement.addSecondary(ROW.other, node, this.instance, NO_NODE, leniency)
    if (goes !== Verdict.ok) return IMPOSSIBLE
    this.differ(node, ROW.other, this.other)
    const more = this.model.instances[this.instance]?.reserve ?? 0
    return { ...this.source([left, this.other]), reservedAlso: { node, more } }
  }

  private keeps(node: number, primary: number): number {
    return this.model.peers[node]?.get(primary) ?? 0
  }

  private differ(node: number, row: number, out: Float64Array): void {
    this.score.difference(node, this.trials.placement.rows, row, out)
  }
}

const IMPOSSIBLE: Source = { differences: [], linear: Infinity }
