// Runs tasks one at a time, in the order of their calls.

export class Mutex {
  private last: Promise<unknown> = Promise.resolve()

  /** Returns the result of the work. A failure does not hold up later tasks. */
  runExclusive<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.last.then(work)
    this.last = mine.catch(() => undefined)
    return mine
  }

  /** Resolves when all earlier tasks are over. */
  async idle(): Promise<void> {
    await this.last
  }
}
