// Candidates that did not answer lately. They are still asked, but we do not wait for them.
import type { Clock } from '../../lib/clock'
import { CONFD_SILENT_S } from '../../model/limits/confd'

export class SilentServers {
  private readonly until_ms = new Map<string, number>()

  constructor(private readonly clock: Clock) {}

  has(server: string): boolean {
    return (this.until_ms.get(server) ?? 0) > this.clock.monotonic_ms()
  }

  /** If none has answered, this node is probably cut off itself, so no candidate is noted. */
  note(requested: readonly string[], replies: ReadonlyMap<string, unknown>): void {
    for (const server of this.until_ms.keys())
      if (replies.has(server) || !this.has(server)) this.until_ms.delete(server)
    if (replies.size === 0) return
    const until_ms = this.clock.monotonic_ms() + CONFD_SILENT_S * 1000
    for (const server of requested) if (!replies.has(server) && !this.has(server)) this.until_ms.set(server, until_ms)
  }
}
