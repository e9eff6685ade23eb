// The nodes that an instance could be moved to, in the order in which they are tried: all of them where there are few, and where
// there are many only those that could be better than what was found before.
import { type Bound, Bounds, type Source } from './bounds'
import type { ClusterModel } from './cluster-model'
import type { Score } from './score'

/** One kind of move, for every target. */
export interface Kind {
  /** What it does besides; asked for only where targets are weighed. */
  source(): Source
  /** Where the instance's primary is when the target becomes its secondary; undefined when it becomes the primary. */
  readonly primary: number | undefined
  readonly attempt: (to: number) => void
}

export interface TargetSearch {
  readonly instance: number
  readonly without: readonly number[]
  bound(): number
}

export class Targets {
  private readonly bounds: Bounds | undefined

  constructor(
    private readonly model: ClusterModel,
    score: Score,
    private readonly nodes: readonly number[],
    boundedFrom: number,
  ) {
    const bounds = nodes.length < boundedFrom ? undefined : new Bounds(model, score, nodes)
    this.bounds = bounds?.usable === true ? bounds : undefined
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
    const { nodes } = this
    const facts = this.model.instances[instance]
    if (facts === undefined) return
    const weighed = kinds.map(({ source, primary, attempt }) => ({
      attempt,
      ...(primary === undefined
        ? bounds.ofPrimary(source(), instance, facts)
        : bounds.ofSecondary(source(), instance, facts, primary)),
    }))
    const attempt = (kind: Weighed, place: number) => {
      const to = nodes[place] ?? -1
      if (!without.includes(to)) kind.attempt(to)
    }
    // The most promising first: what it leaves of the others is little.
    const [first] = weighed.toSorted((one, other) => least(one) - least(other))
    if (first !== undefined && least(first) < bound()) attempt(first, first.asked.leastAt)
    for (const kind of weighed) {
      const { constant, asked, special, change } = kind
      for (const node of special) {
        const place = bounds.placeOf(node)
        if (place === undefined) continue
        if (constant + (asked.values[place] ?? 0) + change(place, node) < bound()) attempt(kind, place)
      }
      let limit = bound() - constant
      if (asked.least >= limit) continue
      for (let place = 0; place < nodes.length; place++) {
        if ((asked.values[place] ?? 0) >= limit) continue
        if (kind !== first || place !== asked.leastAt) attempt(kind, place)
        limit = bound() - constant
      }
    }
  }
}

interface Weighed extends Bound {
  readonly attempt: (to: number) => void
}

const least = ({ constant, asked }: Bound): number => constant + asked.least
