// Balancing: repeatedly makes the single move that improves the score most.
import { BOUNDED_TARGETS, EXHAUSTIVE_TRIALS, PROMISING_SIZES } from '../../model/limits/allocation'
import { NO_NODE, isShared } from '../model/cluster-data'
import type { ClusterModel, InstanceFacts } from '../model/cluster-model'
import { LazySearch } from './lazy-search'
import { type Found, type Move, Mover, type Replacements, type TieRule } from './moves'
import { PromisedTargets } from './promised-targets'
import { Promises } from './lower-bounds'
import { type Looking, PromisingSearch } from './promising-search'
import { Score } from '../model/score'
import { SAME } from '../model/ties'
import { isMirroredInside, NO_DISKS } from '../../model/templates'

export interface BalanceOptions {
  readonly diskMoves: boolean
  readonly instanceMoves: boolean
  readonly restrictedMigration: boolean
  readonly ignoreSoftErrors: boolean
  readonly evacuate: boolean
  readonly minGain: number
  readonly minGainLimit: number
  /** Below 0: no limit. */
  readonly maxRounds: number
  readonly minScore: number
}

/** Thresholds above which the search saves work: trials of a step, targets of a move, sizes of instances. */
export interface Effort {
  readonly exhaustiveTrials: number
  readonly boundedTargets: number
  readonly promisingSizes?: number
}

export interface Step {
  readonly move: Move
  readonly oldPrimary: number
  readonly oldSecondary: number
  readonly score: number
}

/** Balances the nodes of one group, changing the model as it goes; yields every step as it is made. */
export function* balance(
  model: ClusterModel,
  nodes: readonly number[],
  instances: readonly number[],
  options: BalanceOptions,
  effort: Effort = { exhaustiveTrials: EXHAUSTIVE_TRIALS, boundedTargets: BOUNDED_TARGETS },
): Generator<Step, Score> {
  const score = new Score(model, nodes)
  const search = new Search(model, score, nodes, options, effort)
  const candidates = instances.filter((one) => search.mayMove(one))
  const promising = promisingSearch(model, score, candidates, search, effort)
  const exhaustive = candidates.length * nodes.length <= effort.exhaustiveTrials
  const lazy = new LazySearch<Found>(candidates, search)
  const lastScore = options.minScore + score.optimum()
  for (let round = 0; options.maxRounds < 0 || round < options.maxRounds; round++) {
    const before = score.value()
    if (!(before > lastScore)) break
    const isGood = (move: Move) => accepted(before, move.score, options)
    const move =
      promising !== undefined
        ? promising.best(before)
        : exhaustive
          ? search.best(candidates, before)
          : lazy.best(before, isGood)
    if (move === undefined || !isGood(move)) break
    const { instance, kind, primary, secondary } = move
    const [oldPrimary, oldSecondary] = [model.primary[instance] ?? NO_NODE, model.secondary[instance] ?? NO_NODE]
    search.mover.apply(move)
    const changed = [oldPrimary, oldSecondary, primary, secondary]
    score.refresh(changed)
    lazy.moved(changed)
    promising?.moved(changed)
    yield {
      move: { instance, kind, primary, secondary, score: move.score },
      oldPrimary,
      oldSecondary,
      score: score.value(),
    }
  }
  return score
}

/**
 * A trial and the score afterwards may differ by rounding. A gain must exceed this, or moves would go back and forth
 * for ever.
 */
const ROUNDING = 1e-10

const accepted = (before: number, after: number, { minGain, minGainLimit }: BalanceOptions): boolean =>
  before - after > ROUNDING && (before > minGainLimit || before - after >= minGain)

/** None if many instances are alike: then results are shared between them instead. */
function promisingSearch(
  model: ClusterModel,
  score: Score,
  candidates: readonly number[],
  search: Search,
  { promisingSizes = PROMISING_SIZES }: Effort,
): PromisingSearch | undefined {
  if (!search.mover.weighed || score.hasPairs) return undefined
  const promises = new Promises(model, score, search.online, candidates)
  if (promises.sizes < promisingSizes) return undefined
  search.follow(promises)
  return new PromisingSearch(candidates, promises, search)
}

class Search implements Looking {
  readonly mover: Mover
  private promises: Promises | undefined
  readonly online: readonly number[]

  constructor(
    private readonly model: ClusterModel,
    score: Score,
    nodes: readonly number[],
    private readonly options: BalanceOptions,
    { boundedTargets }: Effort,
  ) {
    this.online = nodes.filter((node) => model.nodes[node]?.offline === false)
    this.mover = new Mover(model, score, options.ignoreSoftErrors, this.online, boundedTargets)
  }

  mayMove(instance: number): boolean {
    const facts = this.model.instances[instance]
    if (facts === undefined || !facts.movable || !facts.data.autoBalance) return false
    return this.isWanted(instance, facts)
  }

  /** An evacuation ignores instances off the offline nodes, including those that it has just moved away. */
  private isWanted(instance: number, { data }: InstanceFacts): boolean {
    if (!this.options.evacuate) return true
    const { primary, secondary, nodes } = this.model
    const own = [primary[instance], ...(isMirroredInside(data.template) ? [secondary[instance]] : [])]
    return own.some((node) => nodes[node ?? NO_NODE]?.offline)
  }

  isOn(instance: number, nodes: ReadonlySet<number>): boolean {
    const { primary, secondary } = this.model
    return nodes.has(primary[instance] ?? NO_NODE) || nodes.has(secondary[instance] ?? NO_NODE)
  }

  likeOf(instance: number): number {
    return this.mover.likeOf(instance)
  }

  isBetter(one: Found, other: Found): boolean {
    return this.mover.isBetter(one, other)
  }

  /** Ganeti's move: first the best score is found, then Ganeti's choice among moves that are equally good. */
  best(candidates: readonly number[], before: number): Move | undefined {
    const { mover } = this
    const lowest = new Float64Array(candidates.length)
    let least = before
    candidates.forEach((instance, at) => {
      const { score } = this.bestOf(instance, least, 'any') ?? { score: Infinity }
      lowest[at] = Math.min(score, mover.lowest)
      least = Math.min(least, score)
    })
    let best: Found | undefined
    candidates.forEach((instance, at) => {
      if ((lowest[at] ?? 0) >= least + SAME) return
      const bound = best === undefined ? Math.min(before, least + SAME) : best.score + SAME
      const found = this.bestOf(instance, bound, 'told apart')
      if (found !== undefined && (best === undefined || mover.isBetter(found, best))) best = found
    })
    return best
  }

  /** The instance's best move below `bound`. */
  bestOf(instance: number, bound: number, ties: TieRule): Found | undefined {
    const may = this.mayDo(instance)
    return may === undefined ? undefined : this.mover.bestOf(instance, bound, may, ties)
  }

  /** From now on tries only moves that may be good according to the promises. */
  follow(promises: Promises): void {
    this.promises = promises
    this.mover.choose(new PromisedTargets(this.online, promises))
  }

  outline(instance: number): void {
    const own = this.promises?.own
    const may = this.mayDo(instance)
    own?.clear(instance)
    if (own !== undefined && may !== undefined) this.mover.outline(instance, may, own)
  }

  private mayDo(instance: number): Replacements | undefined {
    const facts = this.model.instances[instance]
    if (facts === undefined || !this.isWanted(instance, facts)) return undefined
    return replacements(this.model, instance, this.options)
  }
}

/** The kinds of moves that an instance may make. */
export function replacements(
  model: ClusterModel,
  instance: number,
  { instanceMoves, diskMoves, restrictedMigration }: BalanceOptions,
): Replacements {
  const template = model.instances[instance]?.data.template ?? NO_DISKS
  const mirrored = isMirroredInside(template)
  const offline = (node: number | undefined) => model.nodes[node ?? NO_NODE]?.offline
  const failover = mirrored && instanceMoves && offline(model.secondary[instance]) === false
  const swap = mirrored && instanceMoves && (!restrictedMigration || offline(model.primary[instance]) === true)
  return {
    failoverToAny: instanceMoves && isShared(template),
    disks: mirrored && diskMoves,
    failover,
    replaceAndFailover: swap,
    replacePrimary: failover && !restrictedMigration,
    failoverAndReplace: failover && swap,
  }
}
