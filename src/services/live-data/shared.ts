// Runs a request once for all callers who want the same at the same time.
import type { ConcurrencyLimit } from '../../lib/work/concurrency-limit'

interface Entry {
  running: Promise<unknown>
  /** Whether the request has not started yet. */
  waits: boolean
  /** Starts after `running`, so that its answer is newer than the requests that wait for it. */
  next?: Promise<unknown>
}

/**
 * Shares requests. A caller that comes during a request gets the answer of the next one, because the current one may
 * have read before the caller asked. So a client that changed something sees its change.
 */
export class Shared {
  private readonly entries = new Map<string, Entry>()

  /** `pace` limits how many requests run at the same time. */
  constructor(private readonly pace?: ConcurrencyLimit) {}

  run<T>(key: string, request: () => Promise<T>): Promise<T> {
    const entry = this.entries.get(key)
    if (entry === undefined) return this.start(key, request)
    // All requests under one key are of one type.
    if (entry.waits) return entry.running as Promise<T>
    const start = () => this.start(key, request)
    entry.next ??= entry.running.then(start, start)
    return entry.next as Promise<T>
  }

  private start<T>(key: string, request: () => Promise<T>): Promise<T> {
    const entry: Entry = { running: Promise.resolve(), waits: true }
    const begin = () => {
      entry.waits = false
      return request()
    }
    const running = this.pace === undefined ? begin() : this.pace.run(begin)
    entry.running = running
    this.entries.set(key, entry)
    const forget = () => {
      if (this.entries.get(key) === entry && entry.next === undefined) this.entries.delete(key)
    }
    running.then(forget, forget)
    return running
  }
}
