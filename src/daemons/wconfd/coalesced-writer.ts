// Writes a file as often as needed and no more: all changes that come during one write go out together in the next.

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
    // Also without a write under way, one turn of the loop lets changes that arrive together be written together.
    await (this.running ?? Promise.resolve()).catch(() => undefined)
    this.next = undefined
    this.running = this.write().finally(() => (this.running = undefined))
    await this.running
  }
}
