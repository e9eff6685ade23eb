// The score that a chosen place leaves, to the last digit that Ganeti shows: its arithmetic is repeated, step by step.
import type { Placed } from './allocate'
import type { Changes } from './changes'
import { NO_NODE } from './cluster-data'
import { type ClusterModel, Col } from './cluster-model'
import { CONTRIBUTION, RESERVED, type Score, contribute } from './score'

/** With one node all is counted anew; with two, what was counted before is corrected for one after the other. */
export function toldScore(
  model: ClusterModel,
  score: Score,
  changes: Changes,
  instance: number,
  { primary, secondary }: Placed,
): number {
  const nodes = secondary === NO_NODE ? [primary] : [primary, secondary]
  const before = nodes.map((node) => valuesOf(model, node))
  const { online } = score
  const sums = score.sums.slice()
  const variances = score.squares.map((one) => one / online)
  let reserved = score.components().at(-1)?.value ?? 0
  const mark = changes.mark()
  changes.place(instance, primary, secondary)
  score.refresh(nodes)
  const after = score.components()
  nodes.forEach((node, at) => {
    const [was, is] = [before[at] ?? [], valuesOf(model, node)]
    variances.forEach((variance, k) => {
      const [x, y] = [was[k] ?? 0, is[k] ?? 0]
      const [by, squares, sum] = [y - x, y * y - x * x, sums[k] ?? 0]
      const change = online * squares - 2 * sum * by - by * by
      sums[k] = sum + by
      variances[k] = Math.max(0, variance + change / (online * online))
    })
    reserved += (is[RESERVED] ?? 0) - (was[RESERVED] ?? 0)
  })
  changes.undo(mark)
  score.refresh(nodes)
  const value = ({ spread, value: counted }: (typeof after)[number], at: number): number => {
    if (secondary === NO_NODE) return counted
    if (spread !== undefined) return Math.sqrt(variances[spread] ?? 0)
    return at === after.length - 1 ? reserved : counted
  }
  return after.reduce((sum, one, at) => sum + one.weight * value(one, at), 0)
}

function valuesOf(model: ClusterModel, node: number): Float64Array {
  const values = new Float64Array(CONTRIBUTION)
  contribute(model, node, model.rows, node * Col.Width, values, 0)
  return values
}
