// Writes a file no more often than necessary: all changes during one write go out together with the next.

export class CoalescedWriter {
  private running: Promise<void> | undefined
  private next: Promise<void> | undefined

  constructor(private readonly write: () => Promise<void>) {}

  /** Resolves when a write that began after this call is done. */
  request(): Promise<void> {
    this.next ??= this.afterRunning()
    return this.next
  }

  /** Resolves when nothing waits to be written. */
  async idle(): Promise<void> {
    await (this.next ?? this.running)
  }

  private async afterRunning(): Promise<void> {
    // Also waits one turn of the loop, so that changes that arrive together are written together.
    await (this.running ?? Promise.resolve()).catch(() => undefined)
    this.next = undefined
    this.running = this.write().finally(() => (this.running = undefined))
    await this.running
  }
}
