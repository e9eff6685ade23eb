// A master candidate's own configuration: its config.data, gantry.data and journal, fed by the master, and the `follow`
// socket for this node's confd. When this node becomes master, wconfd asks it to give up the files.
import type { FramedServer } from '../lib/net/json-socket'
import type { HeldLock } from '../lib/file/lock'
import type { Paths } from '../lib/paths'
import { Mutex } from '../lib/work/mutex'
import { openStore, type ConfigStore, type StoreOptions } from '../config/store'
import type { Documents } from '../model/config'
import { ConfigurationError } from '../model/errors'
import { FollowFeed, serveFollow } from '../rpc/wconfd/follow-server'
import { endOf, forksOf, statusOf, surplus } from '../config/copy-status'
import { encodeConfig, encodeGantry } from '../config/encode'
import { loadConfig, loadGantry } from '../config/upgrade'
import { quarantineCopy, quarantine } from '../lib/file/quarantine'
import { SET_ASIDE_MAX } from '../model/limits/daemons'
import { asConfigOwner, ownConfig, type OwnerOptions } from './config-owner'

export interface ConfigReplicaOptions extends StoreOptions, Pick<OwnerOptions, 'lockFile'> {
  readonly paths: Paths
  /** Whether this node is the master, by its own ssconf. Then wconfd owns the files. */
  isMaster(): boolean
}

interface Opened {
  store: ConfigStore
  feed: FollowFeed
  server: FramedServer
  lock: HeldLock
}

export class ConfigReplica {
  private opened: Opened | undefined
  /** Opening, feeding and giving up run one after the other. */
  private readonly turns = new Mutex()

  constructor(private readonly options: ConfigReplicaOptions) {}

  /** Serves the files of the last run. Serves nothing if this node has no copy or is the master. */
  start(): Promise<void> {
    return this.turns.runExclusive(async () => {
      const { disk, paths, log } = this.options
      if (this.options.isMaster() || (await disk.read(paths.configFile)) === undefined) return
      // The master's next copy replaces an unreadable one.
      await this.open().catch((error: unknown) =>
        log.error({ err: error }, 'the copy of the configuration is not usable'),
      )
    })
  }

  /** Undefined while this node's files are not open here. */
  documents(): Documents | undefined {
    return this.opened?.store.documents()
  }

  append(records: string): Promise<void> {
    return this.turns.runExclusive(async () => {
      const { store } = this.opened ?? (await this.open())
      await store.follow(Buffer.from(records))
    })
  }

  /** Returns the files in which it has kept what the new copy lacks. */
  replace(config: string, gantry: string): Promise<readonly string[]> {
    return this.turns.runExclusive(async () => {
      const opened = this.opened ?? (await this.open().catch(() => undefined))
      if (opened === undefined) return this.writeFiles(config, gantry)
      const before = opened.store.current().serial_no
      const kept = await this.keepSurplus(opened.store.documents(), config, gantry)
      // Followers only take deltas that lead forward. After a step back they get everything again.
      await opened.store.replace(config, gantry).finally(() => {
        if (opened.store.current().serial_no <= before) opened.feed.disconnectAll()
      })
      return kept
    })
  }

  close(): Promise<void> {
    return this.turns.runExclusive(() => this.letGo())
  }

  /** Gives up the copy, and works on its files before anybody opens them again. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.turns.runExclusive(async () => {
      await this.letGo()
      return asConfigOwner(this.options, work)
    })
  }

  private async open(): Promise<Opened> {
    const lock = await this.own('the configuration is kept by its own wconfd')
    return this.openOwned(lock).catch((error: unknown) => {
      lock.release()
      throw error
    })
  }

  private async own(why: string): Promise<HeldLock> {
    const lock = await ownConfig(this.options)
    if (lock === undefined) throw new ConfigurationError(`This node runs as master itself: ${why}`)
    return lock
  }

  private async openOwned(lock: HeldLock): Promise<Opened> {
    const { paths, log } = this.options
    const store = await openStore(this.options)
    const feed = new FollowFeed(() => store.documents(), false)
    store.subscribe((delta) => feed.publish(delta))
    const path = paths.socket('follow')
    const server = await serveFollow({ path, log, onYield: () => this.close() }, feed)
    this.opened = { store, feed, server, lock }
    return this.opened
  }

  private async keepSurplus(own: Documents, config: string, gantry: string): Promise<string[]> {
    const { disk, paths, random, clock, log } = this.options
    const coming = { config: loadConfig(config, random).config, gantry: loadGantry(gantry) }
    const more = surplus(statusOf(coming), statusOf(own))?.text ?? otherContent(coming, own)
    if (more === undefined) return []
    const options = { disk, clock, most: SET_ASIDE_MAX }
    const kept = [
      await quarantineCopy(paths.configFile, 'rejected', encodeConfig(own.config), options),
      await quarantineCopy(paths.gantryFile, 'rejected', encodeGantry(own.gantry), options),
    ]
    log.warn({ kept }, `the master lacks what this copy had (${more}); it is kept`)
    return kept
  }

  /** Writes the first copy, or replaces unreadable files, which are kept. */
  private async writeFiles(config: string, gantry: string): Promise<readonly string[]> {
    const { disk, paths, random, clock, log } = this.options
    loadConfig(config, random)
    await disk.makeDirectory(paths.dataDir)
    await disk.makeDirectory(paths.socketDir)
    const lock = await this.own('it takes no copy of the configuration')
    const kept: string[] = []
    try {
      for (const file of [paths.configFile, paths.gantryFile, paths.journalFile])
        if ((await disk.read(file)) !== undefined)
          kept.push(await quarantine(file, 'rejected', { disk, clock, most: SET_ASIDE_MAX }))
      if (kept.length > 0) log.warn({ kept }, 'this copy could not be read, and is replaced; it is kept')
      await disk.write(paths.gantryFile, gantry)
      await disk.write(paths.configFile, config).catch(async (error: unknown) => {
        // The next attempt must not keep this half as a copy that was here.
        await disk.remove(paths.gantryFile).catch(() => undefined)
        throw error
      })
      await this.openOwned(lock)
      return kept
    } catch (error) {
      lock.release()
      throw error
    }
  }

  private async letGo(): Promise<void> {
    const opened = this.opened
    this.opened = undefined
    if (opened === undefined) return
    try {
      await opened.store.close(true)
    } finally {
      await opened.server.close()
      opened.lock.release()
    }
  }
}

/**
 * One of the two was edited or damaged while its daemons were stopped, since both count the same changes. A copy of another
 * version is written in another way.
 */
function otherContent(coming: Documents, own: Documents): string | undefined {
  const [history, former] = [forksOf(coming.gantry).at(-1)?.[0], forksOf(own.gantry).at(-1)?.[0]]
  // A history that began with these very changes follows them.
  const follows = history === former || endOf(former, forksOf(coming.gantry)) === own.config.serial_no
  if (!follows || own.gantry.serial_no === 0 || coming.config.version !== own.config.version) return undefined
  const files = [
    [
      'config.data',
      coming.config.serial_no,
      own.config.serial_no,
      () => [coming, own].map((one) => encodeConfig(one.config)),
    ],
    [
      'gantry.data',
      coming.gantry.serial_no,
      own.gantry.serial_no,
      () => [coming, own].map((one) => encodeGantry(one.gantry)),
    ],
  ] as const
  const other = files.find(([, there, here, texts]) => there === here && new Set(texts()).size > 1)
  return other && `another content of ${other[0]} with the same serial number ${other[1]}`
}
