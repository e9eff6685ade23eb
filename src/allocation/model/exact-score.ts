// Scores to Ganeti's last bit, by repeating its arithmetic step by step. If places differ only by rounding, this finds
// Ganeti's choice, and the score that it prints.
import { NO_NODE } from './cluster-data'
import type { ClusterModel } from './cluster-model'
import { type AlikeNodes, ExactColumns } from './exact-columns'
import {
  CONTRIBUTION,
  type Component,
  type Counted,
  RESERVED,
  SPREAD_COUNT,
  type Score,
  contribute,
  countOn,
} from './score'

/** A node's hypothetical state. */
export interface What {
  readonly spreads: Float64Array
  readonly counted: Readonly<Counted>
}

export interface Changed extends What {
  readonly node: number
}

export function changedNode(model: ClusterModel, node: number, rows: Float64Array, row: number): Changed {
  const spreads = new Float64Array(CONTRIBUTION)
  contribute(model, node, rows, row, spreads, 0)
  return { node, spreads, counted: countOn(model, node, rows, row) }
}

export class ExactScore {
  private components: readonly Component[] = []
  private version = -1
  private readonly columns: ExactColumns
  /** By node: its current contribution. */
  private readonly known = new Map<number, Changed>()
  private readonly roots = new Float64Array(SPREAD_COUNT)

  constructor(
    private readonly model: ClusterModel,
    /** Must be up to date with the nodes. */
    private readonly score: Score,
  ) {
    this.columns = new ExactColumns(model, score)
  }

  /**
   * The score with these changed nodes and this many more tag pairs. `anew`: recompute everything, as Ganeti does for
   * one node and for moves. Otherwise correct the earlier sums node by node, as it does for pairs.
   */
  after(changed: readonly Changed[], pairs: number, anew: boolean): number {
    this.follow()
    const before = changed.map(({ node }) => this.now(node))
    if (anew) this.countAnew(changed, before)
    let total = 0
    for (const one of this.components) {
      const { spread } = one
      if (spread === undefined) total += one.weight * this.added(one, changed, before, pairs, anew)
      else if (anew) total += one.weight * (this.roots[spread] ?? 0)
      else total += one.weight * Math.sqrt(this.corrected(spread, before, changed))
    }
    return total
  }

  /** Recomputes everything with up to two changed nodes, and each of the targets in this state. */
  among(sources: readonly Changed[], target: What, pairs: number, targets: AlikeNodes): Float64Array {
    this.follow()
    const { columns, score } = this
    const changed = [...sources, { ...target, node: targets.nodes[0] ?? NO_NODE }]
    const before = changed.map(({ node }) => this.now(node))
    const totals = new Float64Array(targets.nodes.length)
    for (const one of this.components) {
      const { spread, counted, weight } = one
      let line: Float64Array | undefined
      if (spread !== undefined) {
        const k = columns.twinOf(spread, changed)
        line = columns.along(k, sources, target.spreads[k] ?? 0, targets, true)
      } else if (counted === 'reserved') {
        line = columns.along(RESERVED, sources, target.spreads[RESERVED] ?? 0, targets, false)
      }
      if (line !== undefined) {
        for (let at = 0; at < totals.length; at++) totals[at] = (totals[at] ?? 0) + weight * (line[at] ?? 0)
        continue
      }
      const value =
        spread !== undefined
          ? Math.sqrt((score.squares[spread] ?? 0) / score.online)
          : this.added(one, changed, before, pairs, false)
      const more = weight * value
      for (let at = 0; at < totals.length; at++) totals[at] = (totals[at] ?? 0) + more
    }
    return totals
  }

  /** Whether the node differs from its current state. */
  differs({ node, spreads, counted }: Changed): boolean {
    this.follow()
    const now = this.now(node)
    const same = now.counted
    for (let k = 0; k < CONTRIBUTION; k++) if (spreads[k] !== now.spreads[k]) return true
    return COUNTED.some((one) => counted[one] !== same[one])
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
    const { score } = this
    if (this.version === score.version) return
    this.version = score.version
    this.known.clear()
    this.components = score.components()
    this.columns.follow()
  }

  /** The roots of the variances. Unchanged ones are known, and identical columns need only one computation. */
  private countAnew(changed: readonly Changed[], before: readonly Changed[]): void {
    const { roots, score, columns } = this
    for (let k = 0; k < SPREAD_COUNT; k++) {
      const twin = columns.twinOf(k, changed)
      if (twin !== k) roots[k] = roots[twin] ?? 0
      else if (changes(k, changed, before)) roots[k] = columns.over(k, changed, before, true)
      else roots[k] = Math.sqrt((score.squares[k] ?? 0) / score.online)
    }
  }

  /** Figures that are only summed. */
  private added(
    { counted, value }: Component,
    changed: readonly Changed[],
    before: readonly Changed[],
    pairs: number,
    anew: boolean,
  ): number {
    if (counted === undefined) return value + pairs
    if (counted === 'reserved' && anew && changes(RESERVED, changed, before)) {
      return this.columns.over(RESERVED, changed, before, false)
    }
    let sum = value
    for (const [at, one] of changed.entries()) sum += one.counted[counted] - (before[at]?.counted[counted] ?? 0)
    return sum
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
}

export const COUNTED = ['failing', 'offline', 'offlinePrimaries', 'clashes', 'location', 'reserved'] as const

function changes(k: number, changed: readonly Changed[], before: readonly Changed[]): boolean {
  for (let at = 0; at < changed.length; at++) if (changed[at]?.spreads[k] !== before[at]?.spreads[k]) return true
  return false
}
