// Each node's contribution to each spread, in Ganeti's order, and the sums after changes of some nodes. A sum over all
// nodes is slow, so results are kept: in many moves the same nodes contribute the same.
import type { ClusterModel } from './cluster-model'
import { CONTRIBUTION, SPREAD_COUNT, type Score } from './score'

/** The contribution of a changed node. */
export interface Contributed {
  readonly node: number
  readonly spreads: Float64Array
}

/** Nodes that are alike to the last bit, in order; `index` numbers the groups of a step. */
export interface AlikeNodes {
  readonly index: number
  readonly nodes: readonly number[]
}

interface Line {
  readonly first: number
  readonly second: number
  /** None if it does not change. */
  readonly target: number | undefined
  readonly values: Float64Array
}

export class ExactColumns {
  private readonly present: readonly number[]
  /** By node, its index in the columns; below 0 for a node without statistics. */
  private readonly places: Int32Array
  /** By spread: what each node contributes. */
  private readonly columns: readonly Float64Array[]
  /** By spread: the first one with an identical column. */
  private readonly same = new Int32Array(SPREAD_COUNT)
  private readonly lines = new Map<number, Line[]>()

  constructor(
    model: ClusterModel,
    private readonly score: Score,
  ) {
    this.present = score.nodes.filter((node) => model.nodes[node]?.offline === false)
    this.places = new Int32Array(model.nodes.length).fill(-1)
    this.present.forEach((node, at) => (this.places[node] = at))
    this.columns = Array.from(this.same, () => new Float64Array(this.present.length))
  }

  /** Call this after the score was recomputed. */
  follow(): void {
    const { columns, present, score, same } = this
    this.lines.clear()
    columns.forEach((column, k) => {
      present.forEach((node, at) => (column[at] = score.values[node * CONTRIBUTION + k] ?? 0))
      same[k] = columns.findIndex((other) => other.every((one, at) => one === column[at]))
    })
  }

  /** The first spread that is identical, including these changes. */
  twinOf(k: number, changed: readonly Contributed[]): number {
    const twin = this.same[k] ?? k
    for (const { spreads } of changed) if (spreads[k] !== spreads[twin]) return k
    return twin
  }

  /** The root of the variance, or the sum, with these changes. */
  over(k: number, changed: readonly Contributed[], before: readonly Contributed[], roots: boolean): number {
    const column = this.put(k, changed)
    const [value = 0] = alone(column, roots)
    this.put(k, before)
    return value
  }

  /**
   * With up to two changed nodes: for each member of the group, the root of the variance (or the sum) if that node has
   * this value. None if nothing changes. Entries of members that are changed themselves are invalid.
   */
  along(k: number, sources: readonly Contributed[], value: number, alike: AlikeNodes, roots: boolean) {
    const column = this.columns[k] ?? NONE
    const [one, two] = sources
    const first = this.changedPlace(k, one)
    const second = this.changedPlace(k, two)
    const place = this.places[alike.nodes[0] ?? -1] ?? -1
    const stays = column[place] === value
    if (first === -1 && second === -1 && stays) return undefined
    const desired = {
      first: first === -1 ? 0 : (one?.spreads[k] ?? 0),
      second: second === -1 ? 0 : (two?.spreads[k] ?? 0),
      target: stays ? undefined : value,
    }
    const width = column.length + 1
    const key = (((alike.index * 2 + (roots ? 1 : 0)) * SPREAD_COUNT + k) * width + first + 1) * width + second + 1
    const lines = this.lines.get(key) ?? []
    for (const line of lines) {
      if (line.first === desired.first && line.second === desired.second && line.target === desired.target) {
        return line.values
      }
    }
    const before = [column[first] ?? 0, column[second] ?? 0] as const
    if (first !== -1) column[first] = desired.first
    if (second !== -1) column[second] = desired.second
    const values = new Float64Array(alike.nodes.length)
    if (stays) values.fill(alone(column, roots)[0] ?? 0)
    else fill(column, this.placesOf(alike), value, roots, values)
    if (first !== -1) column[first] = before[0]
    if (second !== -1) column[second] = before[1]
    lines.push({ ...desired, values })
    this.lines.set(key, lines)
    return values
  }

  private placesOf({ nodes }: AlikeNodes): readonly number[] {
    return nodes.map((node) => this.places[node] ?? -1)
  }

  private changedPlace(k: number, changed: Contributed | undefined): number {
    const place = changed === undefined ? -1 : (this.places[changed.node] ?? -1)
    return place !== -1 && this.columns[k]?.[place] === changed?.spreads[k] ? -1 : place
  }

  private put(k: number, nodes: readonly Contributed[]): Float64Array {
    const column = this.columns[k] ?? NONE
    for (const { node, spreads } of nodes) {
      const place = this.places[node] ?? -1
      if (place !== -1) column[place] = spreads[k] ?? 0
    }
    return column
  }
}

const NONE = new Float64Array(0)

function alone(column: Float64Array, roots: boolean): Float64Array {
  const out = new Float64Array(1)
  fill(column, [0], column[0] ?? 0, roots, out)
  return out
}

/**
 * By index of the node that has this value instead: the root of the variance, or the sum. Indexes ascend, so sums share
 * their beginnings.
 */
function fill(column: Float64Array, places: readonly number[], value: number, roots: boolean, out: Float64Array): void {
  const count = column.length
  let done = 0
  let before = 0
  let squared = 0
  let squares = 0
  let mean = NaN
  for (let i = 0; i < places.length; i++) {
    const place = places[i] ?? 0
    for (; done < place; done++) before += column[done] ?? 0
    let total = before + value
    for (let at = place + 1; at < count; at++) total += column[at] ?? 0
    if (!roots) {
      out[i] = total
      continue
    }
    if (total / count !== mean) {
      mean = total / count
      squared = squares = 0
    }
    for (; squared < place; squared++) {
      const distance = (column[squared] ?? 0) - mean
      squares += distance * distance
    }
    let all = squares + (value - mean) * (value - mean)
    for (let at = place + 1; at < count; at++) {
      const distance = (column[at] ?? 0) - mean
      all += distance * distance
    }
    out[i] = Math.sqrt(all / count)
  }
}
