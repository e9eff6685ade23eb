// The best move of a large cluster, without looking at every instance for every step: at those first that promised most when they were
// last looked at, and at all of them only when none of these is left.
import type { Move } from './moves'

interface Promise {
  readonly instance: number
  readonly gain: number
}

export class LazySearch {
  /** The greatest gain comes last. */
  private promised: Promise[] = []

  constructor(
    private readonly candidates: readonly number[],
    private readonly bestOf: (instance: number, bound: number) => Move | undefined,
  ) {}

  /** A move that is good, or none if there is none. */
  best(before: number, isGood: (move: Move) => boolean): Move | undefined {
    for (const next of [this.mostPromising, this.ofAll]) {
      const move = next.call(this, before)
      if (move !== undefined && isGood(move)) return move
    }
    return undefined
  }

  /** Looks again at the instance that promised most, until one keeps more than the next one promises. */
  private mostPromising(before: number): Move | undefined {
    const { promised } = this
    for (let one = promised.pop(); one !== undefined; one = promised.pop()) {
      const move = this.bestOf(one.instance, before)
      if (move === undefined) continue
      const gain = before - move.score
      const rival = promised.at(-1)
      if (rival === undefined || gain >= rival.gain) return move
      promised.splice(placeFor(promised, gain), 0, { instance: one.instance, gain })
    }
    return undefined
  }

  /** Looks at every instance, and notes what it promises. */
  private ofAll(before: number): Move | undefined {
    const found = this.candidates.flatMap((instance) => this.bestOf(instance, before) ?? [])
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
