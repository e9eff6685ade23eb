// Scores to the last bit of Ganeti's: its arithmetic is repeated, step by step. Of places that are as good but for rounding it tells the one
// that Ganeti takes, and of the one that is taken what Ganeti shows.
import type { ClusterModel } from './cluster-model'
import { CONTRIBUTION, type Component, type Counted, RESERVED, type Score, contribute, countOn } from './score'

/** A node as it would be. */
export interface Changed {
  readonly node: number
  readonly spreads: Float64Array
  readonly counted: Readonly<Counted>
}

export function changedNode(model: ClusterModel, node: number, rows: Float64Array, row: number): Changed {
  const spreads = new Float64Array(CONTRIBUTION)
  contribute(model, node, rows, row, spreads, 0)
  return { node, spreads, counted: countOn(model, node, rows, row) }
}

export class ExactScore {
  private components: readonly Component[] = []
  private version = -1
  private readonly present: readonly number[]

  constructor(
    private readonly model: ClusterModel,
    /** It must know the nodes as they are. */
    private readonly score: Score,
  ) {
    this.present = score.nodes.filter((node) => model.nodes[node]?.offline === false)
  }

  /**
   * With these nodes changed, and so many pairs of tags more. `anew`: all is counted anew, as Ganeti does for one node and for moves;
   * otherwise what was counted before is corrected for one node after the other, as it does for pairs.
   */
  after(changed: readonly Changed[], pairs: number, anew: boolean): number {
    this.follow()
    const { model, score } = this
    const before = changed.map(({ node }): Changed => {
      const at = node * CONTRIBUTION
      return { node, spreads: score.values.slice(at, at + CONTRIBUTION), counted: countOn(model, node, model.rows) }
    })
    const put = (nodes: readonly Changed[]) => {
      for (const { node, spreads } of nodes) score.values.set(spreads, node * CONTRIBUTION)
    }
    const value = ({ spread, counted, value: was }: Component): number => {
      if (spread !== undefined) {
        return Math.sqrt(anew ? this.varianceAnew(spread) : this.corrected(spread, before, changed))
      }
      if (counted === undefined) return was + pairs
      if (counted === 'reserved' && anew) return this.sum(RESERVED)
      return changed.reduce((sum, one, at) => sum + (one.counted[counted] - (before[at]?.counted[counted] ?? 0)), was)
    }
    if (anew) put(changed)
    const total = this.components.reduce((sum, one) => sum + one.weight * value(one), 0)
    if (anew) put(before)
    return total
  }

  private follow(): void {
    if (this.version === this.score.version) return
    this.version = this.score.version
    this.components = this.score.components()
  }

  private corrected(k: number, before: readonly Changed[], after: readonly Changed[]): number {
    const { online, sums, squares } = this.score
    let [sum, variance] = [sums[k] ?? 0, (squares[k] ?? 0) / online]
    for (const [at, { spreads }] of after.entries()) {
      const [x, y] = [before[at]?.spreads[k] ?? 0, spreads[k] ?? 0]
      const by = y - x
      const change = online * (y * y - x * x) - 2 * sum * by - by * by
      sum += by
      variance = Math.max(0, variance + change / (online * online))
    }
    return variance
  }

  private varianceAnew(k: number): number {
    const { online, values } = this.score
    const mean = this.sum(k) / online
    let squares = 0
    for (const node of this.present) {
      const distance = (values[node * CONTRIBUTION + k] ?? 0) - mean
      squares += distance * distance
    }
    return squares / online
  }

  private sum(k: number): number {
    let sum = 0
    for (const node of this.present) sum += this.score.values[node * CONTRIBUTION + k] ?? 0
    return sum
  }
}
