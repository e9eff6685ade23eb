// The best move of a large cluster, without looking at every instance for every step: at those first that promised most when they were
// last looked at, then at those on nodes that have changed since, and at all of them only when none of these is left.
import { NO_NODE } from './cluster-data'
import type { Move } from './moves'

interface Promise {
  readonly instance: number
  readonly gain: number
}

export interface Looking {
  /** The instance's best move that leaves a score below `bound`. */
  bestOf(instance: number, bound: number): Move | undefined
  isOn(instance: number, nodes: ReadonlySet<number>): boolean
}

export class LazySearch {
  /** The greatest gain comes last. */
  private promised: Promise[] = []
  private changed = new Set<number>()

  constructor(
    private readonly candidates: readonly number[],
    private readonly looking: Looking,
  ) {}

  /** A move that is good, or none if there is none. */
  best(before: number, isGood: (move: Move) => boolean): Move | undefined {
    for (const next of [this.mostPromising, this.nearChanges, this.ofAll]) {
      const move = next.call(this, before)
      if (move !== undefined && isGood(move)) return move
    }
    return undefined
  }

  /** A move was made between these nodes. */
  moved(nodes: readonly number[]): void {
    for (const node of nodes) if (node !== NO_NODE) this.changed.add(node)
  }

  /** Looks again at the instance that promised most, until one keeps more than the next one promises. */
  private mostPromising(before: number): Move | undefined {
    const { promised } = this
    for (let one = promised.pop(); one !== undefined; one = promised.pop()) {
      const move = this.looking.bestOf(one.instance, before)
      if (move === undefined) continue
      const gain = before - move.score
      const rival = promised.at(-1)
      if (rival === undefined || gain >= rival.gain) return move
      promised.splice(placeFor(promised, gain), 0, { instance: one.instance, gain })
    }
    return undefined
  }

  private nearChanges(before: number): Move | undefined {
    return this.among(
      this.candidates.filter((one) => this.looking.isOn(one, this.changed)),
      before,
    )
  }

  private ofAll(before: number): Move | undefined {
    return this.among(this.candidates, before)
  }

  /** Looks at each of these instances, and notes what it promises. */
  private among(instances: readonly number[], before: number): Move | undefined {
    this.changed = new Set()
    const found = instances.flatMap((instance) => this.looking.bestOf(instance, before) ?? [])
    found.sort((one, other) => other.score - one.score || other.instance - one.instance)
    const best = found.pop()
    this.promised = found.map(({ instance, score }) => ({ instance, gain: before - score }))
    return best
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
