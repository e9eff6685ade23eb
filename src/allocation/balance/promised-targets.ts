// Finds targets that may beat the best move so far, with the same sums as the instances' promises.
import type { Promises, Role } from './lower-bounds'
import type { Known } from './step-memory'
import type { TargetChoice, TargetSearch } from './targets'
import { SAME } from '../model/ties'

interface Weighed {
  readonly known: Known
  readonly role: Role
  readonly reserve: number
  /** The least score, without the target's part. */
  readonly constant: number
}

export class PromisedTargets implements TargetChoice {
  readonly weighed = true

  constructor(
    private readonly targets: readonly number[],
    private readonly promises: Promises,
  ) {}

  each(search: TargetSearch, kinds: readonly Known[]): number {
    const { promises } = this
    const { instance } = search
    const weighed: Weighed[] = []
    let first: Weighed | undefined
    let least = Infinity
    for (const known of kinds) {
      const { asPrimary, place } = known.kind
      const role = promises.roleOf(instance, asPrimary)
      const constant = promises.before + promises.own.weigh(instance, place, role.amounts)
      if (constant + promises.leastFor(role) >= search.bound() + SAME) continue
      promises.sumsOf(role)
      const score = constant + promises.leastFor(role)
      if (score >= search.bound() + SAME) continue
      const one = { known, role, reserve: role.asking.reserve, constant }
      weighed.push(one)
      if (score >= least) continue
      least = score
      first = one
    }
    // The most promising one first: it leaves few of the others.
    const before = first?.role.leastAt ?? -1
    if (first !== undefined) this.attempt(search, first, before)
    for (const one of weighed) this.tryAll(search, one, one === first ? before : -1)
    return -Infinity
  }

  private tryAll(search: TargetSearch, one: Weighed, without: number): void {
    const { role, reserve, constant, known } = one
    const { sums } = this.promises
    const added = this.promises.sumsOf(role)
    let limit = search.bound() + SAME - constant
    for (let place = 0; place < added.length; place++) {
      const least = added[place] ?? 0
      if (least >= limit || place === without) continue
      if (reserve > 0) {
        const kept = known.kind.kept(this.targets[place] ?? -1)
        if (least - sums.ofReserve(place, reserve) + sums.ofReserve(place, reserve, kept) >= limit) continue
      }
      this.attempt(search, one, place)
      limit = search.bound() + SAME - constant
    }
  }

  private attempt(search: TargetSearch, { known }: Weighed, place: number): void {
    const to = this.targets[place] ?? -1
    if (!search.excludes(to)) search.attempt(known, to)
  }
}
