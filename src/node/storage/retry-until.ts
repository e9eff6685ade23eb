// Looks again and again, with growing pauses, until the result is as wanted or the time is over. Returns the last result.
import type { Clock } from '../../lib/clock'
import { LOOK_PAUSE_MS } from '../../model/limits/storage'

export async function retryUntil<T>(
  clock: Clock,
  limit_s: number,
  look: () => Promise<T>,
  isGood: (observed: T) => boolean,
): Promise<T> {
  const deadline = clock.monotonic_ms() + limit_s * 1000
  for (let pause_ms: number = LOOK_PAUSE_MS.first; ; pause_ms = Math.min(LOOK_PAUSE_MS.longest, pause_ms * 1.5)) {
    const observed = await look()
    const left_ms = deadline - clock.monotonic_ms()
    if (isGood(observed) || left_ms <= 0) return observed
    await clock.sleep(Math.min(pause_ms, left_ms))
  }
}
