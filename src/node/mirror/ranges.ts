// Who works on which bytes: a piece of work waits for those before it that share bytes with it, so that two writes reach both sides in
// the same order, and a block is not copied while it is written to.

interface Held {
  readonly start: number
  readonly end: number
  readonly over: Promise<void>
}

export class Ranges {
  /** In the order in which they were asked for. */
  private readonly held = new Set<Held>()

  async within<T>(start: number, end: number, work: () => Promise<T>): Promise<T> {
    const before = [...this.held].filter((other) => other.start < end && start < other.end)
    let release: () => void = () => undefined
    const mine = { start, end, over: new Promise<void>((resolve) => (release = resolve)) }
    this.held.add(mine)
    try {
      for (const other of before) await other.over
      return await work()
    } finally {
      this.held.delete(mine)
      release()
    }
  }

  /** When nothing else is under way; nothing begins before it has ended. */
  alone = <T>(work: () => Promise<T>): Promise<T> => this.within(0, Number.POSITIVE_INFINITY, work)
}
