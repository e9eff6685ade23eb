// A clock for tests that must not wait.
import type { Clock } from '../../src/lib/clock'

/** Sleeping takes no time but moves the clock. Timers never ring. */
export function clockAt(start_ms: number): Clock {
  let now_ms = start_ms
  return {
    now_ms: () => now_ms,
    monotonic_ms: () => now_ms,
    after: () => ({ cancel: () => undefined }),
    async sleep(delay_ms) {
      now_ms += delay_ms
    },
  }
}
