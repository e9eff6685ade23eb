// The effects of moves on the changed nodes, and the resulting scores, to the last bit as Ganeti computes them. Moves
// of alike instances have the same effect on alike nodes. Their scores differ only by rounding, which depends on the
// nodes' positions in Ganeti's order.
import { NO_NODE } from '../model/cluster-data'
import type { ClusterModel } from '../model/cluster-model'
import type { AlikeNodes } from '../model/exact-columns'
import { COUNTED, ExactScore, type What, changedNode } from '../model/exact-score'
import { FAILED_OVER, SOFT } from '../model/placement'
import { CONTRIBUTION, type Score } from '../model/score'
import { ROW, Trials } from '../model/trials'

/** Nodes are given by index: primary and secondary before the move, and after it. */
interface Effect {
  readonly changed: readonly ({ readonly place: number } & What)[]
  readonly pairs: number
  /** By the changed nodes except the target, and by the group of targets: the score with each target. */
  readonly scores: Map<number, Float64Array>
}

export interface Outcome {
  /** Infinity if the move is forbidden, or its score is above the limit. */
  readonly score: number
  readonly limit: number
  effect?: Effect
}

export interface Made {
  readonly instance: number
  readonly primary: number
  readonly secondary: number
  readonly outcome: Outcome
}

export class Effects {
  private readonly exact: ExactScore
  private readonly trials: Trials
  private readonly known = new Map<string, Effect>()
  /** The key of an effect: the pairs, and for each of up to four nodes its index, its contribution and its counts. */
  private readonly parts = new Float64Array(1 + 4 * (1 + CONTRIBUTION + COUNTED.length))
  private readonly bytes = Buffer.from(this.parts.buffer)

  constructor(
    private readonly model: ClusterModel,
    private readonly score: Score,
  ) {
    this.exact = new ExactScore(model, score)
    this.trials = new Trials(model, true)
  }

  /** A move was made, so everything is forgotten. */
  forget(): void {
    this.known.clear()
  }

  /**
   * The score with each of these targets. None of them is a node of the instance; `made` is the move to any of them.
   */
  among(made: Made, targets: AlikeNodes): Float64Array {
    const effect = (made.outcome.effect ??= this.find(made))
    const count = this.model.nodes.length
    let key = targets.index
    for (const { place } of effect.changed) if (place < TARGET) key = key * count + this.nodeAt(place, made)
    const known = effect.scores.get(key)
    if (known !== undefined) return known
    const scores = this.count(effect, made, targets)
    effect.scores.set(key, scores)
    return scores
  }

  private count({ changed, pairs }: Effect, made: Made, targets: AlikeNodes): Float64Array {
    const target = changed.find(({ place }) => place >= TARGET)
    const sources = changed
      .filter(({ place }) => place < TARGET)
      .map(({ place, spreads, counted }) => ({ spreads, counted, node: this.nodeAt(place, made) }))
    if (target !== undefined) return this.exact.among(sources, target, pairs, targets)
    return new Float64Array(targets.nodes.length).fill(this.exact.after(sources, pairs, true))
  }

  private nodeAt(place: number, { instance }: Made): number {
    return (place === 0 ? this.model.primary : this.model.secondary)[instance] ?? NO_NODE
  }

  private find(made: Made): Effect {
    const { known, parts, bytes } = this
    const effect = this.effectOf(made)
    let at = 0
    parts[at++] = effect.pairs
    for (const { place, spreads, counted } of effect.changed) {
      parts[at++] = place
      parts.set(spreads, at)
      at += CONTRIBUTION
      for (const one of COUNTED) parts[at++] = counted[one]
    }
    const key = bytes.toString('latin1', 0, at * parts.BYTES_PER_ELEMENT)
    const same = known.get(key)
    if (same !== undefined) return same
    known.set(key, effect)
    return effect
  }

  private effectOf({ instance, primary, secondary }: Made): Effect {
    const { model, trials, score } = this
    const { placement } = trials
    trials.begin(instance)
    const from = trials.primary
    const location = trials.shared(primary, secondary)
    placement.addPrimary(this.rowOf(primary, ROW.target), primary, instance, location, SOFT)
    if (secondary !== NO_NODE) {
      placement.addSecondary(this.rowOf(secondary, ROW.other), secondary, instance, primary, FAILED_OVER)
    }
    const changed: Effect['changed'][number][] = []
    const add = (place: number, node: number, row: number) => {
      if (node === NO_NODE) return
      const one = changedNode(model, node, placement.rows, row)
      if (this.exact.differs(one)) changed.push({ place, spreads: one.spreads, counted: one.counted })
    }
    add(0, from, ROW.primary)
    add(1, trials.secondary, ROW.secondary)
    if (!this.isSource(primary)) add(TARGET, primary, ROW.target)
    if (!this.isSource(secondary)) add(TARGET + 1, secondary, ROW.other)
    return { changed, pairs: score.pairsAfter(instance, from, primary), scores: new Map() }
  }

  private isSource(node: number): boolean {
    return node === this.trials.primary || node === this.trials.secondary
  }

  /** The rows of the instance's nodes without it, and copies of the others. */
  private rowOf(node: number, row: number): number {
    const { primary, secondary, placement } = this.trials
    if (node === primary) return ROW.primary
    if (node === secondary) return ROW.secondary
    placement.copy(node, row)
    return row
  }
}

/** The first place of a node after the move. */
const TARGET = 2
