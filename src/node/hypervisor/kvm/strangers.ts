// Which processes of this machine are no QEMU of this node's. A look at all of them comes every few seconds, and would read hundreds of
// files each time only to find the same.
import type { Clock } from '../../../lib/clock'
import { STRANGER_KNOWN_S, STRANGER_YOUNG_S } from '../../../model/limits/hypervisor'

export class Strangers {
  /** When each was first seen, or last looked at again. */
  private readonly since_ms = new Map<number, number>()

  constructor(private readonly clock: Clock) {}

  /** Those that have to be looked at. A young process may still become another program; and a number may be given anew. */
  unknownOf(pids: readonly number[]): readonly number[] {
    const there = new Set(pids)
    for (const pid of this.since_ms.keys()) if (!there.has(pid)) this.since_ms.delete(pid)
    const now_ms = this.clock.monotonic_ms()
    return pids.filter((pid) => {
      const known_s = (now_ms - (this.since_ms.get(pid) ?? now_ms)) / 1000
      return known_s < STRANGER_YOUNG_S || known_s >= STRANGER_KNOWN_S
    })
  }

  /** It was looked at, and is none of ours. */
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
