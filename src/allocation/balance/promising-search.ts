// Finds the best move of a step by considering only instances whose promise reaches the best gain so far. The result is
// the same as if all were considered.
import TinyQueue from 'tinyqueue'
import { PROMISING_FIRST } from '../../model/limits/allocation'
import { type Found, TIED, type TieRule } from './moves'
import type { Promises } from './lower-bounds'
import { SAME } from '../model/ties'

export interface Looking {
  /** The instance's best move that leaves a score below `bound`. */
  bestOf(instance: number, bound: number, ties: TieRule): Found | undefined
  /** Stores the effects of the instance's moves on its own nodes. */
  outline(instance: number): void
  isBetter(one: Found, other: Found): boolean
}

export class PromisingSearch {
  private readonly founds: Found[] = []
  /** By instance: its index among the candidates. */
  private readonly order: Int32Array
  private stale: readonly number[]
  private before = 0
  /** The change of the score by the best move so far. */
  private change = 0

  constructor(
    private readonly candidates: readonly number[],
    private readonly promises: Promises,
    private readonly looking: Looking,
  ) {
    this.order = new Int32Array(promises.least.length)
    candidates.forEach((one, at) => (this.order[one] = at))
    this.stale = candidates
  }

  /** Ganeti's choice among moves that only differ by rounding. */
  best(before: number): Found | undefined {
    const { candidates, promises, looking, founds, order } = this
    const { least } = promises
    this.before = before
    this.change = founds.length = 0
    promises.before = before
    for (const one of this.stale) {
      looking.outline(one)
      promises.outline(one)
    }
    for (let tries = 0; tries < PROMISING_FIRST && this.change === 0; tries++) {
      const first = lowestOf(candidates, least)
      if (first === undefined || !this.isHopeful(first)) return undefined
      this.look(first)
    }
    const looked = new Set(founds.map(({ instance }) => instance))
    const hopeful = new TinyQueue(
      candidates.filter((one) => this.isHopeful(one) && !looked.has(one)),
      (one, other) => (least[one] ?? 0) - (least[other] ?? 0),
    )
    for (let one = hopeful.pop(); one !== undefined && this.isHopeful(one); one = hopeful.pop()) this.look(one)
    const limit = before + this.change + SAME
    let best: Found | undefined
    const tied = founds.filter(({ score }) => score < limit)
    tied.sort((one, other) => (order[one.instance] ?? 0) - (order[other.instance] ?? 0))
    for (const found of tied) if (best === undefined || looking.isBetter(found, best)) best = found
    return this.change < 0 ? best : undefined
  }

  /** A move was made between these nodes. */
  moved(nodes: readonly number[]): void {
    this.stale = this.promises.follow(nodes)
  }

  private isHopeful(instance: number): boolean {
    return (this.promises.least[instance] ?? 0) < this.change + SAME
  }

  private look(instance: number): void {
    const { promises, looking, before } = this
    const { least } = promises
    const desired = this.change + SAME
    if (!promises.isOutlined(instance)) promises.outline(instance)
    if ((least[instance] ?? 0) < desired) promises.refine(instance, desired)
    if ((least[instance] ?? 0) >= desired) return
    // Slightly further than needed, so that it need not be considered again in the next steps.
    const bound = this.change + Math.max(SAME, promises.ahead(instance))
    const found = looking.bestOf(instance, before + bound, 'told apart')
    const change = found === undefined ? bound : found.score - before
    least[instance] = change - TIED
    if (found === undefined || change >= desired) return
    this.founds.push(found)
    this.change = Math.min(this.change, change)
  }
}

function lowestOf(candidates: readonly number[], least: Float64Array): number | undefined {
  let found: number | undefined
  let lowest = Infinity
  for (const one of candidates) {
    const value = least[one] ?? 0
    if (value >= lowest) continue
    found = one
    lowest = value
  }
  return found
}
