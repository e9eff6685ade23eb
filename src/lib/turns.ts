// Runs tasks that must not run at the same time, in the order in which they were asked for.

export class Turns {
  private last: Promise<unknown> = Promise.resolve()

  /** Ends as the work ends; a failure does not hold up what comes next. */
  take<T>(work: () => Promise<T>): Promise<T> {
    const mine = this.last.then(work)
    this.last = mine.catch(() => undefined)
    return mine
  }

  /** Resolves when all that was asked for until now is over. */
  async idle(): Promise<void> {
    await this.last
  }
}
