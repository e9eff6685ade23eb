// Finds a good move in a large cluster with few sizes of instances, without considering every instance in each step. It
// considers instances on nodes that have just changed, and those that promised about as much as the best last time.
// Occasionally, and when these offer no good move, it considers all.
import { LAZY_LOOKS, LAZY_PART, LAZY_ROUNDS } from '../../model/limits/allocation'
import { NO_NODE } from '../model/cluster-data'
import type { Move } from './moves'

export interface Looking<M extends Move> {
  /** The instance's best move that leaves a score below `bound`. */
  bestOf(instance: number, bound: number, ties: 'any'): M | undefined
  isOn(instance: number, nodes: ReadonlySet<number>): boolean
  /** The same number for alike instances on alike nodes. */
  likeOf(instance: number): number
}

export class LazySearch<M extends Move> {
  /** By index among the candidates: the gain of the best move when the instance was last considered. */
  private readonly promised: Float64Array
  private changed = new Set<number>()
  /** Steps until all instances are considered again. */
  private left = 0

  constructor(
    private readonly candidates: readonly number[],
    private readonly looking: Looking<M>,
  ) {
    this.promised = new Float64Array(candidates.length)
  }

  /** A good move; undefined if there is none. */
  best(before: number, isGood: (move: M) => boolean): M | undefined {
    if (this.left-- > 0) {
      const move = this.amongPromising(before)
      if (move !== undefined && isGood(move)) return move
    }
    this.left = LAZY_ROUNDS
    const move = this.among([...this.candidates.keys()], before)
    return move !== undefined && isGood(move) ? move : undefined
  }

  /** A move was made between these nodes. */
  moved(nodes: readonly number[]): void {
    for (const node of nodes) if (node !== NO_NODE) this.changed.add(node)
  }

  private amongPromising(before: number): M | undefined {
    const { promised, candidates, looking, changed } = this
    let most = 0
    for (const gain of promised) most = Math.max(most, gain)
    const near: number[] = []
    const others: number[] = []
    candidates.forEach((instance, at) => {
      if (looking.isOn(instance, changed)) near.push(at)
      else if ((promised[at] ?? 0) > LAZY_PART * most) others.push(at)
    })
    others.sort((one, other) => (promised[other] ?? 0) - (promised[one] ?? 0))
    return this.among([...near, ...this.firstUnlike(others)], before)
  }

  /** The first indexes, one for each kind of instance, up to a limit. */
  private firstUnlike(places: readonly number[]): Iterable<number> {
    const found = new Map<number, number>()
    for (const at of places) {
      const like = this.looking.likeOf(this.candidates[at] ?? -1)
      if (found.has(like)) continue
      found.set(like, at)
      if (found.size === LAZY_LOOKS) break
    }
    return found.values()
  }

  /** Considers these instances, one of each kind, and notes their promises. */
  private among(places: readonly number[], before: number): M | undefined {
    this.changed = new Set()
    const promised = new Map<number, number>()
    let best: M | undefined
    for (const at of places) {
      const instance = this.candidates[at] ?? -1
      const like = this.looking.likeOf(instance)
      let promise = promised.get(like)
      if (promise === undefined) {
        const move = this.looking.bestOf(instance, before, 'any')
        promise = move === undefined ? 0 : before - move.score
        promised.set(like, promise)
        if (move !== undefined && move.score < (best?.score ?? Infinity)) best = move
      }
      this.promised[at] = promise
    }
    return best
  }
}
