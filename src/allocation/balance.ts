// Balancing: the move of one instance that improves the score most, again and again.
import { NO_NODE, isShared } from './cluster-data'
import type { ClusterModel } from './cluster-model'
import { type Move, Mover } from './moves'
import { Score } from './score'

export interface BalanceOptions {
  readonly diskMoves: boolean
  readonly instanceMoves: boolean
  readonly restrictedMigration: boolean
  readonly ignoreSoftErrors: boolean
  readonly evacuate: boolean
  readonly minGain: number
  readonly minGainLimit: number
  /** Below 0: as many as there are. */
  readonly maxRounds: number
  readonly minScore: number
}

export interface Step {
  readonly move: Move
  readonly oldPrimary: number
  readonly oldSecondary: number
  readonly score: number
}

/** Up to here every step looks at every instance anew; above, at those first that promised most when last looked at. */
const EXHAUSTIVE_TRIALS = 20_000

/** Balances the nodes of one group, changing the model as it goes; yields every step as it is made. */
export function* balance(
  model: ClusterModel,
  nodes: readonly number[],
  instances: readonly number[],
  options: BalanceOptions,
): Generator<Step, Score> {
  const score = new Score(model, nodes)
  const search = new Search(model, score, nodes, options)
  const candidates = instances.filter((one) => search.mayMove(one))
  const lazy = candidates.length * nodes.length > EXHAUSTIVE_TRIALS
  const lastScore = options.minScore + score.optimum()
  let promised: { readonly instance: number; gain: number }[] = []
  for (let round = 0; options.maxRounds < 0 || round < options.maxRounds; round++) {
    const before = score.value()
    if (!(before > lastScore)) break
    let move = lazy ? search.mostPromising(promised, before) : undefined
    if (move === undefined || !accepted(before, move.score, options)) {
      promised = []
      move = search.best(candidates, before, lazy ? promised : undefined)
    }
    if (move === undefined || !accepted(before, move.score, options)) break
    const { instance } = move
    const [oldPrimary, oldSecondary] = [model.primary[instance] ?? NO_NODE, model.secondary[instance] ?? NO_NODE]
    search.mover.apply(move)
    score.refresh()
    yield { move, oldPrimary, oldSecondary, score: score.value() }
  }
  return score
}

const accepted = (before: number, after: number, { minGain, minGainLimit }: BalanceOptions): boolean =>
  after < before && (before > minGainLimit || before - after >= minGain)

class Search {
  readonly mover: Mover
  private readonly online: readonly number[]

  constructor(
    private readonly model: ClusterModel,
    score: Score,
    nodes: readonly number[],
    private readonly options: BalanceOptions,
  ) {
    this.mover = new Mover(model, score, options.ignoreSoftErrors)
    this.online = nodes.filter((node) => model.nodes[node]?.offline === false)
  }

  mayMove(instance: number): boolean {
    const facts = this.model.instances[instance]
    if (facts === undefined || !facts.movable || !facts.data.autoBalance) return false
    if (!this.options.evacuate) return true
    const nodes = [facts.data.primary, ...(facts.data.template === 'drbd' ? [facts.data.secondary] : [])]
    return nodes.some((node) => this.model.nodes[node]?.offline)
  }

  /** The best move of all; notes what every instance promises. */
  best(
    candidates: readonly number[],
    before: number,
    promised?: { instance: number; gain: number }[],
  ): Move | undefined {
    let best: Move | undefined
    for (const instance of candidates) {
      const bound = promised === undefined ? (best?.score ?? before) : before
      const move = this.bestOf(instance, bound)
      if (move === undefined) continue
      promised?.push({ instance, gain: before - move.score })
      if (best === undefined || move.score < best.score) best = move
    }
    promised?.sort((one, other) => one.gain - other.gain)
    return best
  }

  /** Looks again at the instance that promised most, until one keeps more than the next one promises. */
  mostPromising(promised: { instance: number; gain: number }[], before: number): Move | undefined {
    for (let one = promised.pop(); one !== undefined; one = promised.pop()) {
      const move = this.bestOf(one.instance, before)
      if (move === undefined) continue
      const gain = before - move.score
      const rival = promised.at(-1)
      if (rival === undefined || gain >= rival.gain) return move
      promised.splice(placeFor(promised, gain), 0, { instance: one.instance, gain })
    }
    return undefined
  }

  private bestOf(instance: number, bound: number): Move | undefined {
    const facts = this.model.instances[instance]
    if (facts === undefined) return undefined
    const { instanceMoves, diskMoves, restrictedMigration } = this.options
    if (isShared(facts.data.template)) {
      return instanceMoves ? this.mover.bestFailoverToAny(instance, this.online, bound) : undefined
    }
    if (facts.data.template !== 'drbd') return undefined
    const secondary = this.model.secondary[instance] ?? NO_NODE
    const failover = instanceMoves && this.model.nodes[secondary]?.offline === false
    const drained = this.model.nodes[this.model.primary[instance] ?? NO_NODE]?.offline === true
    const swap = instanceMoves && (!restrictedMigration || drained)
    return this.mover.bestReplacement(instance, diskMoves ? this.online : [], bound, {
      failover,
      replaceAndFailover: swap,
      replacePrimary: failover && !restrictedMigration,
      failoverAndReplace: failover && swap,
    })
  }
}

function placeFor(promised: readonly { readonly gain: number }[], gain: number): number {
  let [low, high] = [0, promised.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((promised[middle]?.gain ?? 0) < gain) low = middle + 1
    else high = middle
  }
  return low
}
