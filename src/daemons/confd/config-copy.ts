// The configuration for this node's confd. It arrives over the `follow` socket, change by change: from wconfd on the
// master, from noded on other candidates. While nobody serves the socket, it comes from the files, and the last known
// state stays.
import { readConfig, type StoreOptions } from '../../config/store-files'
import { errorText } from '../../lib/system-failure'
import type { Files } from '../../lib/files'
import type { Paths } from '../../lib/paths'
import { WatchedFiles } from '../../lib/file/watched-files'
import type { ConfigData, GantryData } from '../../model/config'
import { FILES_LOOK_S, FILES_SETTLE_S } from '../../model/limits/confd'
import { ConfigFollower } from '../../rpc/wconfd/follow'

export interface CopyOptions extends Omit<StoreOptions, 'paths' | 'wrote'> {
  readonly files: Pick<Files, 'statSync' | 'watch'>
  readonly paths: Pick<Paths, 'configFile' | 'journalFile' | 'gantryFile' | 'hmacKey' | 'socket'>
}

export class ConfigCopy {
  private config: ConfigData | undefined
  private secret = ''
  private reading: Promise<void> | undefined
  private again = false
  private readonly follower: ConfigFollower
  private readonly watched: WatchedFiles

  static async open(options: CopyOptions): Promise<ConfigCopy> {
    const copy = new ConfigCopy(options)
    await Promise.all([copy.readFiles(), copy.readKey()])
    // Goes on until it is closed.
    copy.follower.start().catch(() => undefined)
    return copy
  }

  private constructor(private readonly options: CopyOptions) {
    const { files, paths, clock, log } = options
    const { configFile, journalFile, hmacKey } = paths
    this.follower = new ConfigFollower(paths.socket('follow'), (config) => (this.config = config), {
      ...{ clock, log, wait_s: Infinity },
    })
    this.watched = new WatchedFiles({
      ...{ files, watched: [configFile, journalFile, hmacKey], clock, settle_s: FILES_SETTLE_S, look_s: FILES_LOOK_S },
      onChange: (file) => void (file === hmacKey ? this.readKey() : this.readFiles()),
    })
  }

  /** Undefined while this node has no readable configuration. */
  current(): ConfigData | undefined {
    return this.follower.connected ? this.follower.current() : this.config
  }

  /** The last known public part of gantry.data. */
  gantry(): Pick<GantryData, 'sections'> {
    return this.follower.gantry() ?? { sections: {} }
  }

  /** The whole content of the key's file, with its line end; empty if there is none. */
  key(): string {
    return this.secret
  }

  async readKey(): Promise<void> {
    const { disk, paths, log } = this.options
    try {
      this.secret = (await disk.read(paths.hmacKey))?.toString('utf8') ?? ''
      if (this.secret === '') log.error({ file: paths.hmacKey }, 'there is no key, so nobody can be answered')
    } catch (error) {
      log.error({ reason: errorText(error) }, 'the key cannot be read; the former one is used')
    }
  }

  close(): void {
    this.watched.close()
    this.follower.close()
  }

  /** If a file changes while it is read, it is read once more. */
  private async readFiles(): Promise<void> {
    this.again = true
    this.reading ??= this.readAll().finally(() => (this.reading = undefined))
    return this.reading
  }

  private async readAll(): Promise<void> {
    while (this.again && !this.follower.connected) {
      this.again = false
      try {
        const config = await readConfig(this.options)
        if (config !== undefined && !this.follower.connected) this.config = config
      } catch (error) {
        const { log, paths } = this.options
        log.error(
          { file: paths.configFile, reason: errorText(error) },
          'cannot be read; what was last known is answered',
        )
      }
    }
  }
}
