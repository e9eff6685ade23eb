// Files of one directory that other processes write: tells which of them have changed. The system tells of changes in the directory,
// and only then, and seldom otherwise, the files are looked at. Where the system cannot tell, the seldom look does it alone.
import * as fs from 'node:fs'
import * as path from 'node:path'
import type { Clock, Timer } from './clock'
import { fileStamp } from './file-stamp'

export interface WatchOptions {
  readonly files: readonly string[]
  readonly clock: Clock
  /** Seconds from news of the system to the look, in which more news come together. */
  readonly settle_s: number
  /** Seconds between two looks without news. */
  readonly look_s: number
  onChange(file: string): void
}

export class WatchedFiles {
  private readonly stamps: Map<string, string | undefined>
  private watcher: fs.FSWatcher | undefined
  private soon: Timer | undefined
  private seldom: Timer | undefined
  private closed = false

  constructor(private readonly options: WatchOptions) {
    this.stamps = new Map(options.files.map((file) => [file, fileStamp(fs, file)]))
    this.watch()
    this.lookSeldom()
  }

  close(): void {
    this.closed = true
    this.soon?.cancel()
    this.seldom?.cancel()
    this.watcher?.close()
  }

  private watch(): void {
    const [first = ''] = this.options.files
    const names = this.options.files.map((file) => path.basename(file))
    try {
      this.watcher = fs.watch(path.dirname(first), { persistent: false }, (_, name) => {
        if (name === null || names.includes(name)) this.lookSoon()
      })
      this.watcher.on('error', () => this.unwatch())
    } catch {
      this.unwatch()
    }
  }

  /** The next seldom look tries again. */
  private unwatch(): void {
    this.watcher?.close()
    this.watcher = undefined
  }

  private lookSoon(): void {
    this.soon ??= this.options.clock.after(
      this.options.settle_s * 1000,
      () => {
        this.soon = undefined
        this.look()
      },
      { background: true },
    )
  }

  private lookSeldom(): void {
    const { clock, look_s } = this.options
    this.seldom = clock.after(
      look_s * 1000,
      () => {
        if (this.watcher === undefined) this.watch()
        this.look()
        this.lookSeldom()
      },
      { background: true },
    )
  }

  private look(): void {
    if (this.closed) return
    for (const [file, before] of this.stamps) {
      const stamp = fileStamp(fs, file)
      if (stamp === before) continue
      this.stamps.set(file, stamp)
      this.options.onChange(file)
    }
  }
}
