// A clock that moves only when the test moves it.
import type { Clock } from '../../src/lib/clock'

interface Alarm {
  readonly at_ms: number
  ring(): void
}

/** Stands still until a test moves it. Timers and sleeps that are due then end in their order. */
export class SteppedClock implements Clock {
  private now = 1e12
  private readonly alarms = new Set<Alarm>()

  now_ms = (): number => this.now
  monotonic_ms = (): number => this.now

  after(delay_ms: number, action: () => void) {
    const alarm = { at_ms: this.now + delay_ms, ring: action }
    this.alarms.add(alarm)
    return { cancel: () => void this.alarms.delete(alarm) }
  }

  sleep(delay_ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = () => {
        timer.cancel()
        reject(new Error('woken'))
      }
      const timer = this.after(delay_ms, () => {
        signal?.removeEventListener('abort', stop)
        resolve()
      })
      signal?.addEventListener('abort', stop, { once: true })
    })
  }

  /** Lets everything happen that is due within this time. */
  async pass(time_s: number): Promise<void> {
    const end_ms = this.now + time_s * 1000
    await settled()
    for (;;) {
      const [next] = [...this.alarms].sort((a, b) => a.at_ms - b.at_ms)
      if (next === undefined || next.at_ms > end_ms) break
      this.now = Math.max(this.now, next.at_ms)
      this.alarms.delete(next)
      next.ring()
      await settled()
    }
    this.now = end_ms
  }
}

/** Resolves when everything that follows from earlier events has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}
