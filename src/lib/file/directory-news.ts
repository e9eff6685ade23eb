// Tells when something in a directory may have changed. The kernel notifies us at once. If it cannot, or we miss a
// notification, a periodic check finds the change.
import type { FSWatcher } from 'node:fs'
import type { Clock, Timer } from '../clock'
import type { Files } from '../files'

export interface NewsOptions {
  readonly files: Pick<Files, 'watch'>
  readonly directory: string
  readonly clock: Clock
  /** Seconds from a notification to the check, which collects several notifications. */
  readonly settle_s: number
  /** Seconds between two periodic checks. */
  readonly look_s: number
  /** Whether we care about a name in the directory. */
  concerns?(name: string): boolean
  look(): void
}

export class DirectoryNews {
  private watcher: FSWatcher | undefined
  private soon: Timer | undefined
  private seldom: Timer | undefined

  constructor(private readonly options: NewsOptions) {
    this.watch()
    this.lookSeldom()
  }

  close(): void {
    this.soon?.cancel()
    this.seldom?.cancel()
    this.unwatch()
  }

  lookSoon(): void {
    const { clock, settle_s } = this.options
    const look = () => {
      this.soon = undefined
      this.options.look()
    }
    this.soon ??= clock.after(settle_s * 1000, look, { background: true })
  }

  private watch(): void {
    const { files, directory, concerns } = this.options
    try {
      this.watcher = files.watch(directory, { persistent: false }, (_, name) => {
        if (name === null || concerns?.(name) !== false) this.lookSoon()
      })
      this.watcher.on('error', () => this.unwatch())
    } catch {
      this.unwatch()
    }
  }

  /** The next periodic check tries to watch again. */
  private unwatch(): void {
    this.watcher?.close()
    this.watcher = undefined
  }

  private lookSeldom(): void {
    const { clock, look_s } = this.options
    const look = () => {
      if (this.watcher === undefined) this.watch()
      this.lookSeldom()
      this.options.look()
    }
    this.seldom = clock.after(look_s * 1000, look, { background: true })
  }
}
