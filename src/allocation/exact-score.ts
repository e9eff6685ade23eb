// Scores to the last bit of Ganeti's: its arithmetic is repeated, step by step. Of places that are as good but for rounding it tells the one
// that Ganeti takes, and of the one that is taken what Ganeti shows.
import type { ClusterModel } from './cluster-model'
import {
  CONTRIBUTION,
  type Component,
  type Counted,
  RESERVED,
  SPREAD_COUNT,
  type Score,
  WEIGHTS,
  contribute,
  countOn,
} from './score'

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
  /** By node, its place in the columns; below 0 for a node that has no statistics. */
  private readonly places: Int32Array
  /** By spread: what each node contributes. */
  private columns: readonly Float64Array[] = []
  /** By spread: the first whose column is the same. */
  private readonly same = new Int32Array(SPREAD_COUNT)
  /** By node: as it is now. */
  private readonly known = new Map<number, Changed>()
  private readonly roots = new Float64Array(SPREAD_COUNT)

  constructor(
    private readonly model: ClusterModel,
    /** It must know the nodes as they are. */
    private readonly score: Score,
  ) {
    this.present = score.nodes.filter((node) => model.nodes[node]?.offline === false)
    this.places = new Int32Array(model.nodes.length).fill(-1)
    this.present.forEach((node, at) => (this.places[node] = at))
  }

  /**
   * With these nodes changed, and so many pairs of tags more. `anew`: all is counted anew, as Ganeti does for one node and for moves;
   * otherwise what was counted before is corrected for one node after the other, as it does for pairs.
   */
  after(changed: readonly Changed[], pairs: number, anew: boolean): number {
    this.follow()
    const before = changed.map(({ node }) => this.now(node))
    if (anew) this.countAnew(changed, before)
    const value = ({ spread, counted, value: was }: Component): number => {
      if (spread !== undefined) {
        return anew ? (this.roots[spread] ?? 0) : Math.sqrt(this.corrected(spread, before, changed))
      }
      if (counted === undefined) return was + pairs
      if (counted === 'reserved' && anew) return this.sumWith(RESERVED, changed, before)
      let sum = was
      for (const [at, one] of changed.entries()) sum += one.counted[counted] - (before[at]?.counted[counted] ?? 0)
      return sum
    }
    let total = 0
    for (const one of this.components) total += one.weight * value(one)
    return total
  }

  /** Whether it is not as it is now. */
  differs({ node, spreads, counted }: Changed): boolean {
    this.follow()
    const now = this.now(node)
    const same = now.counted
    return spreads.some((one, k) => one !== now.spreads[k]) || COUNTED.some((one) => counted[one] !== same[one])
  }

  private now(node: number): Changed {
    const known = this.known.get(node)
    if (known !== undefined) return known
    const at = node * CONTRIBUTION
    const { model, score } = this
    const spreads = score.values.slice(at, at + CONTRIBUTION)
    const now = { node, spreads, counted: countOn(model, node, model.rows) }
    this.known.set(node, now)
    return now
  }

  private follow(): void {
    const { score, present } = this
    if (this.version === score.version) return
    this.version = score.version
    this.known.clear()
    this.components = score.components()
    this.columns = Array.from(WEIGHTS, (_, k) =>
      Float64Array.from(present, (node) => score.values[node * CONTRIBUTION + k] ?? 0),
    )
    this.columns.forEach((column, k) => {
      this.same[k] = this.columns.findIndex((other) => other.every((one, at) => one === column[at]))
    })
  }

  /** The roots of the variances: those that stay are known, and of columns that are the same one is enough. */
  private countAnew(changed: readonly Changed[], before: readonly Changed[]): void {
    const { roots, score, same } = this
    const differs = (k: number) => changed.some((one, at) => one.spreads[k] !== before[at]?.spreads[k])
    for (let k = 0; k < SPREAD_COUNT; k++) {
      const twin = same[k] ?? k
      if (twin !== k && changed.every(({ spreads }) => spreads[k] === spreads[twin])) roots[k] = roots[twin] ?? 0
      else if (differs(k)) roots[k] = this.rootWith(k, changed, before)
      else roots[k] = Math.sqrt((score.squares[k] ?? 0) / score.online)
    }
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

  private rootWith(k: number, changed: readonly Changed[], before: readonly Changed[]): number {
    const column = this.put(k, changed)
    const mean = sum(column) / column.length
    let squares = 0
    for (let at = 0; at < column.length; at++) {
      const distance = (column[at] ?? 0) - mean
      squares += distance * distance
    }
    this.put(k, before)
    return Math.sqrt(squares / column.length)
  }

  private sumWith(k: number, changed: readonly Changed[], before: readonly Changed[]): number {
    const total = sum(this.put(k, changed))
    this.put(k, before)
    return total
  }

  private put(k: number, nodes: readonly Changed[]): Float64Array {
    const column = this.columns[k] ?? NONE
    for (const { node, spreads } of nodes) {
      const place = this.places[node] ?? -1
      if (place !== -1) column[place] = spreads[k] ?? 0
    }
    return column
  }
}

const COUNTED = ['failing', 'offline', 'offlinePrimaries', 'clashes', 'location', 'reserved'] as const
const NONE = new Float64Array(0)

function sum(column: Float64Array): number {
  let total = 0
  for (let at = 0; at < column.length; at++) total += column[at] ?? 0
  return total
}
