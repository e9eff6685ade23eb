// Limits how much work runs at the same time.
import type { Clock } from '../clock'

export interface ConcurrencyBounds {
  /** Work that may run at the same time. */
  readonly size: number
  /** After this time, unfinished work no longer counts, so that others need not wait for it. */
  readonly patience_s: number
}

/** Starts queued work bit by bit, as earlier work ends. */
export class ConcurrencyLimit {
  private taken = 0
  private readonly waiting: (() => void)[] = []

  constructor(
    private readonly bounds: ConcurrencyBounds,
    private readonly clock: Clock,
  ) {}

  run<T>(work: () => Promise<T>): Promise<T> {
    if (this.taken < this.bounds.size) return this.begin(work)
    return new Promise((resolve, reject) => {
      this.waiting.push(() => void this.begin(work).then(resolve, reject))
    })
  }

  private begin<T>(work: () => Promise<T>): Promise<T> {
    this.taken++
    let isHere = true
    const leave = () => {
      if (!isHere) return
      isHere = false
      timer.cancel()
      this.taken--
      this.waiting.shift()?.()
    }
    const timer = this.clock.after(this.bounds.patience_s * 1000, leave)
    const result = work()
    result.then(leave, leave)
    return result
  }
}
