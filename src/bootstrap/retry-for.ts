// Retries actions that need a moment until they work.
import type { Clock } from '../lib/clock'
import { LOOK_EVERY_S } from '../model/limits/adoption'

/** Tries until it succeeds; rejects with the last failure. */
export async function retryFor<T>(clock: Clock, patience_s: number, attempt: () => Promise<T>): Promise<T> {
  for (const end_ms = clock.monotonic_ms() + patience_s * 1000; ;) {
    try {
      return await attempt()
    } catch (error) {
      if (clock.monotonic_ms() > end_ms) throw error
      await clock.sleep(LOOK_EVERY_S * 1000)
    }
  }
}
