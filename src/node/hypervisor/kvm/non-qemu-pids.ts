// Remembers which processes of this machine are no QEMU of this node. A scan of all processes happens every few
// seconds, and would read hundreds of files each time for the same result.
import type { Clock } from '../../../lib/clock'
import { STRANGER_KNOWN_S, STRANGER_YOUNG_S } from '../../../model/limits/hypervisor'

export class NonQemuPids {
  /** When each was first seen, or last checked. */
  private readonly since_ms = new Map<number, number>()

  constructor(private readonly clock: Clock) {}

  /**
   * The processes that must be checked. A young process may still become another program, and a number may be used
   * again.
   */
  unknownOf(pids: readonly number[]): readonly number[] {
    const there = new Set(pids)
    for (const pid of this.since_ms.keys()) if (!there.has(pid)) this.since_ms.delete(pid)
    const now_ms = this.clock.monotonic_ms()
    return pids.filter((pid) => {
      const known_s = (now_ms - (this.since_ms.get(pid) ?? now_ms)) / 1000
      return known_s < STRANGER_YOUNG_S || known_s >= STRANGER_KNOWN_S
    })
  }

  /** It was checked, and is none of ours. */
  note(pid: number): void {
    const now_ms = this.clock.monotonic_ms()
    const since_ms = this.since_ms.get(pid)
    if (since_ms === undefined) this.since_ms.set(pid, now_ms)
    else if (now_ms - since_ms >= STRANGER_KNOWN_S * 1000) this.since_ms.set(pid, now_ms - STRANGER_YOUNG_S * 1000)
  }

  forget(pid: number): void {
    this.since_ms.delete(pid)
  }
}
