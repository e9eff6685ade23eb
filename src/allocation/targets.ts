// The nodes that an instance could be moved to, in the order in which they are tried: all of them where there are few, and where
// there are many only those that could be better than what was found before.
import { Bounds, type Source } from './bounds'
import type { ClusterModel } from './cluster-model'
import type { Score } from './score'

/** One kind of move, for every target. */
export interface Kind {
  /** What it does besides; asked for only where targets are weighed. */
  source(): Source
  /** Where the instance's primary is when the target becomes its secondary; undefined when it becomes the primary. */
  readonly primary: number | undefined
  attempt(to: number): void
}

export interface TargetSearch {
  readonly instance: number
  readonly without: readonly number[]
  bound(): number
}

export class Targets {
  private readonly bounds: Bounds | undefined
  private readonly scores: Float64Array

  constructor(
    private readonly model: ClusterModel,
    score: Score,
    private readonly nodes: readonly number[],
    boundedFrom: number,
  ) {
    const bounds = nodes.length < boundedFrom ? undefined : new Bounds(model, score, nodes)
    this.bounds = bounds?.usable === true ? bounds : undefined
    this.scores = new Float64Array(4 * nodes.length)
  }

  /** Attempts every kind with every target that could get below the bound, which each attempt may lower. */
  each(search: TargetSearch, kinds: readonly Kind[]): void {
    if (this.bounds !== undefined) return this.weigh(this.bounds, search, kinds)
    for (const to of this.nodes) {
      if (search.without.includes(to)) continue
      for (const kind of kinds) kind.attempt(to)
    }
  }

  private weigh(bounds: Bounds, { instance, without, bound }: TargetSearch, kinds: readonly Kind[]): void {
    const { nodes, scores } = this
    const facts = this.model.instances[instance]
    if (facts === undefined) return
    bounds.begin(facts, facts.data.template === 'drbd')
    kinds.forEach(({ source, primary }, at) => {
      if (primary === undefined) bounds.ofPrimary(source(), scores, at * nodes.length)
      else bounds.ofSecondary(source(), facts, primary, scores, at * nodes.length)
    })
    const count = kinds.length * nodes.length
    const attempt = (at: number) => {
      scores[at] = Infinity
      const to = nodes[at % nodes.length] ?? -1
      if (!without.includes(to)) kinds[Math.floor(at / nodes.length)]?.attempt(to)
    }
    // The most promising first: what it leaves of the others is little.
    const first = lowest(scores, count)
    if (!((scores[first] ?? Infinity) < bound())) return
    attempt(first)
    for (let at = 0; at < count; at++) if ((scores[at] ?? Infinity) < bound()) attempt(at)
  }
}

function lowest(scores: Float64Array, count: number): number {
  let [best, value] = [0, Infinity]
  for (let at = 0; at < count; at++) {
    const score = scores[at] ?? Infinity
    if (score < value) [best, value] = [at, score]
  }
  return best
}
