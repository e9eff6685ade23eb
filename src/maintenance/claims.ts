// Which instances maintd works on: those of the round, and those that it starts or whose disks it activates. No instance gets
// jobs of both at once.

export class Claims {
  private readonly cared = new Set<string>()
  private planned: ReadonlySet<string> = new Set()

  /** Returns those that are free, which are the caller's until they are released. */
  take(names: readonly string[]): string[] {
    const free = names.filter((name) => !this.cared.has(name) && !this.planned.has(name))
    for (const name of free) this.cared.add(name)
    return free
  }

  release(names: readonly string[]): void {
    for (const name of names) this.cared.delete(name)
  }

  /** The instances of the round, until it ends. Returns whether all were free. */
  takeForRound(names: readonly string[]): boolean {
    if (names.some((name) => this.cared.has(name))) return false
    this.planned = new Set(names)
    return true
  }

  /** The round was planned before: by the last maintd, say. */
  keepForRound(names: readonly string[]): void {
    this.planned = new Set(names)
  }

  /** Names that a round must leave alone now. */
  busy(): string[] {
    return [...this.cared]
  }
}
