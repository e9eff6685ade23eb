// The cleaner: removes old, useless files on every node and on the master, with Ganeti's files, ages and log.
import * as path from 'node:path'
import { type Clock, fileTime, seconds } from '../lib/clock'
import { isMissing } from '../lib/disk'
import type { Files } from '../lib/files'
import type { Paths } from '../lib/paths'
import { errorText } from '../lib/system-failure'
import { EXPORT_CONF_FILE } from '../model/constants/exports'
import { PATH } from '../model/constants/paths'
import { BROKEN_EXPORT_KEEPS_DAYS, CLEANER_KEEPS_DAYS, CLEANER_LOGS_MAX } from '../model/limits/watcher'

export interface CleanerSurroundings {
  readonly files: Pick<Files, 'readdir' | 'lstat' | 'unlink' | 'rmdir' | 'readFile' | 'mkdir' | 'appendFile' | 'access'>
  readonly paths: Paths
  readonly clock: Clock
  readonly pid: number
  /** When the certificate in this text expires, in milliseconds since the epoch; throws if it is no certificate. */
  expiry_ms(certificate: string): number
}

/** Removes what it can. Resolves to the names of removed files. */
export async function clean(part: 'node' | 'master', surroundings: CleanerSurroundings): Promise<string[]> {
  const cleaner = new Cleaner(part, surroundings)
  await cleaner.begin()
  if (part === 'node') {
    await cleaner.expiredKeys()
    await cleaner.watcherFiles()
    await cleaner.brokenExports()
    await cleaner.forgottenTransfers()
  } else await cleaner.archivedJobs()
  return cleaner.gone
}

class Cleaner {
  readonly gone: string[] = []
  private readonly logFile: string
  private readonly oldest_ms: number

  constructor(
    part: 'node' | 'master',
    private readonly surroundings: CleanerSurroundings,
  ) {
    const { paths, clock, pid } = surroundings
    const folder = path.join(paths.logDir, part === 'node' ? 'cleaner' : 'master-cleaner')
    this.logFile = path.join(folder, `cleaner-${fileTime(clock)}.${pid}.log`)
    // Whole days, as find(1) counts them.
    this.oldest_ms = clock.now_ms() - (CLEANER_KEEPS_DAYS + 1) * 86_400_000
  }

  async begin(): Promise<void> {
    const folder = path.dirname(this.logFile)
    await this.surroundings.files.mkdir(folder, { recursive: true })
    await this.say(`Cleaner started at ${seconds(this.surroundings.clock)}`)
    const logs = (await this.names(folder)).sort()
    for (const name of logs.slice(0, -CLEANER_LOGS_MAX)) await this.remove(path.join(folder, name))
  }

  /** The keys of unfinished transfers between clusters. */
  async expiredKeys(): Promise<void> {
    const { paths, files, clock, expiry_ms } = this.surroundings
    const folder = paths.local(PATH.CRYPTO_KEYS_DIR)
    for (const name of await this.names(folder)) {
      const directory = path.join(folder, name)
      try {
        const certificate = await files.readFile(path.join(directory, 'cert'), 'utf8')
        if (expiry_ms(certificate) > clock.now_ms()) continue
        for (const file of ['cert', 'key']) await this.remove(path.join(directory, file))
        await files.rmdir(directory)
      } catch (error) {
        await this.say(`${directory} stays: ${errorText(error)}`)
      }
    }
  }

  async watcherFiles(): Promise<void> {
    const { dataDir } = this.surroundings.paths
    const names = (await this.isInCluster()) ? await this.names(dataDir) : []
    const old = /^watcher\..*-.*-.*-.*\.(data|instance-status)$/
    for (const name of names.filter((one) => old.test(one))) await this.removeOld(path.join(dataDir, name))
  }

  /** What an export has left that was killed. One that is under way writes all the time, and only a whole one has its description. */
  async brokenExports(): Promise<void> {
    const folder = this.surroundings.paths.local(PATH.EXPORT_DIR)
    for (const name of (await this.names(folder)).filter((one) => one.endsWith('.new')))
      await this.removeIdle(path.join(folder, name), (parts) => !parts.includes(EXPORT_CONF_FILE))
  }

  /** What nobody asks for any more, because the job was killed that had begun it. One that is under way writes its status all the time. */
  async forgottenTransfers(): Promise<void> {
    const folder = this.surroundings.paths.local(PATH.IMPORT_EXPORT_DIR)
    for (const name of await this.names(folder)) await this.removeIdle(path.join(folder, name))
  }

  /** Removes a directory in which nothing was written for long, unless its content says otherwise. */
  private async removeIdle(
    directory: string,
    isBroken: (parts: readonly string[]) => boolean = () => true,
  ): Promise<void> {
    const { files, clock } = this.surroundings
    const names = await this.names(directory)
    if (!isBroken(names)) return
    const parts = names.map((part) => path.join(directory, part))
    const stats = await Promise.all([directory, ...parts].map((one) => files.lstat(one).catch(() => undefined)))
    const idle_ms = clock.now_ms() - BROKEN_EXPORT_KEEPS_DAYS * 86_400_000
    if (stats.some((stat) => stat === undefined || stat.mtimeMs >= idle_ms)) return
    for (const part of parts) await this.remove(part)
    await files.rmdir(directory).catch((error: unknown) => this.say(`${directory} stays: ${errorText(error)}`))
  }

  async archivedJobs(): Promise<void> {
    const { archiveDir } = this.surroundings.paths
    for (const folder of (await this.isInCluster()) ? await this.names(archiveDir) : [])
      for (const name of await this.names(path.join(archiveDir, folder)))
        await this.removeOld(path.join(archiveDir, folder, name))
  }

  private isInCluster(): Promise<boolean> {
    const { files, paths } = this.surroundings
    return files.access(paths.ssconf('master_node')).then(
      () => true,
      () => false,
    )
  }

  /** The names in a directory; empty if it is none. */
  private async names(directory: string): Promise<string[]> {
    try {
      return await this.surroundings.files.readdir(directory)
    } catch (error) {
      if (!isMissing(error)) await this.say(`${directory} cannot be read: ${errorText(error)}`)
      return []
    }
  }

  private async removeOld(file: string): Promise<void> {
    const stat = await this.surroundings.files.lstat(file).catch(() => undefined)
    if (stat?.isFile() && stat.mtimeMs < this.oldest_ms) await this.remove(file)
  }

  private async remove(file: string): Promise<void> {
    try {
      await this.surroundings.files.unlink(file)
      this.gone.push(file)
      await this.say(`removed '${file}'`)
    } catch (error) {
      if (!isMissing(error)) await this.say(`${file} stays: ${errorText(error)}`)
    }
  }

  private say(line: string): Promise<void> {
    return this.surroundings.files.appendFile(this.logFile, `${line}\n`)
  }
}
