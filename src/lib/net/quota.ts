/** Counts places in use, with one limit for all and one for each user or client. */
export class Quota {
  private readonly counts = new Map<string, number>()
  private taken = 0

  constructor(private readonly limits: { readonly all: number; readonly each: number | ((who: string) => number) }) {}

  of(who: string): number {
    return this.counts.get(who) ?? 0
  }

  /** The limit that is reached, if any. */
  full(who: string): 'all' | 'each' | undefined {
    const { all, each } = this.limits
    if (this.of(who) >= (typeof each === 'number' ? each : each(who))) return 'each'
    return this.taken >= all ? 'all' : undefined
  }

  /** Takes a place. Returns a function that gives it back once. */
  take(who: string): () => void {
    this.add(who, 1)
    return () => this.add(who, -1)
  }

  private add(who: string, change: 1 | -1): void {
    this.taken += change
    const count = this.of(who) + change
    if (count === 0) this.counts.delete(who)
    else this.counts.set(who, count)
  }
}
