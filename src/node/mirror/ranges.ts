// Orders the work on ranges of bytes. A piece of work waits for earlier work that shares bytes with it. So two writes reach both sides in
// the same order, and a block is not copied while it is being written.

interface Held {
  readonly start: number
  readonly end: number
  readonly over: Promise<void>
}

export class Ranges {
  /** In the order of the calls. */
  private readonly held = new Set<Held>()
  /** Places before the first byte, one for each piece of work that has no bytes of its own. */
  private places = 0

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

  /** Waits until no other work is under way. Other work waits until this has ended. */
  alone = <T>(work: () => Promise<T>): Promise<T> =>
    this.within(Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, work)

  /** Runs beside all other work, but not while somebody is alone. */
  beside<T>(work: () => Promise<T>): Promise<T> {
    const end = -this.places++
    return this.within(end - 1, end, work)
  }
}
