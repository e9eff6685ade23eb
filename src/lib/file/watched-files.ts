// Watches files in a directory that other processes write, and tells which have changed.
import * as path from 'node:path'
import { DirectoryNews, type NewsOptions } from './directory-news'
import { fileVersion } from './file-version'
import type { Files } from '../files'

export interface WatchOptions extends Pick<NewsOptions, 'clock' | 'settle_s' | 'look_s'> {
  readonly files: Pick<Files, 'statSync' | 'watch'>
  readonly watched: readonly string[]
  onChange(file: string): void
}

export class WatchedFiles {
  private readonly stamps: Map<string, string | undefined>
  private readonly news: DirectoryNews

  constructor(private readonly options: WatchOptions) {
    const { files, watched, clock, settle_s, look_s } = options
    this.stamps = new Map(watched.map((file) => [file, fileVersion(files, file)]))
    const names = watched.map((file) => path.basename(file))
    this.news = new DirectoryNews({
      ...{ files, directory: path.dirname(watched[0] ?? ''), clock, settle_s, look_s },
      concerns: (name) => names.includes(name),
      look: () => this.look(),
    })
  }

  close(): void {
    this.news.close()
  }

  private look(): void {
    for (const [file, before] of this.stamps) {
      const stamp = fileVersion(this.options.files, file)
      if (stamp === before) continue
      this.stamps.set(file, stamp)
      this.options.onChange(file)
    }
  }
}
