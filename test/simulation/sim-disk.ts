// The file system of one simulated machine. Processes that die leave what they have written; a machine that loses power keeps what
// was synced, and of the rest anything: names that were changed in a directory that was not synced may be old or new, each by itself,
// and bytes that were not synced are there up to some point.
import * as path from 'node:path'
import { type Appender, type AppenderOptions, type Disk, refuseLong, type WriteOptions } from '../../src/lib/disk'
import { UnsettledAppend } from '../../src/lib/file/unsettled-append'
import { DiskFaults } from '../support/disk-faults'
import { removeSocket, socketsBelow } from './sim-sockets'
import type { SimProcess, Simulator } from './simulator'

/** The content of a file, whatever its name is. */
interface Inode {
  data: Buffer
  /** Bytes that a crash leaves. */
  synced: number
}

/** One change of names: it survives a crash whole or not at all. */
type Renaming = ReadonlyMap<string, Inode | undefined>

export class SimDisk {
  /** How many bytes can still be written. A full disk refuses what is longer. */
  room_bytes = Infinity
  /** Single files that cannot be written. */
  readonly faults = new DiskFaults()
  private names = new Map<string, Inode>()
  private durable = new Map<string, Inode>()
  private unsynced: Renaming[] = []

  constructor(private readonly simulator: Simulator) {}

  /** The disk as one process uses it: each step takes time, and a process that dies takes no further step. */
  of(process: SimProcess): Disk {
    const step = (low_ms: number, high_ms: number) =>
      new Promise<void>((resolve) => {
        this.simulator.after(this.simulator.between(low_ms, high_ms), process, resolve)
      })
    // Most syncs are quick; now and then one is not.
    const sync = () => (this.simulator.chance(0.01) ? step(50, 500) : step(0.3, 4))
    return this.operations(step, sync)
  }

  /** The same without time, for the eyes of the simulation. */
  get now(): Disk {
    const none = () => Promise.resolve()
    return this.operations(none, none)
  }

  peek(file: string): string | undefined {
    return this.names.get(file)?.data.toString('utf8')
  }

  /** The names of everything below a directory. */
  list(directory: string): string[] {
    const below = `${directory}/`
    const found = [...this.names.keys()]
      .filter((name) => name.startsWith(below))
      .map((name) => name.slice(below.length))
    return [...new Set([...found, ...socketsBelow(directory)].map((name) => name.split('/')[0] ?? ''))].sort()
  }

  /** Power is lost. */
  crash(): void {
    for (const renaming of this.unsynced) if (this.simulator.chance(0.5)) apply(this.durable, renaming)
    this.unsynced = []
    this.names = new Map()
    for (const [name, inode] of this.durable) {
      if (name.includes('/var/run/')) continue
      const lost = inode.data.length - inode.synced
      const data = lost > 0 ? inode.data.subarray(0, inode.synced + this.simulator.random.below(lost + 1)) : inode.data
      this.names.set(name, { data, synced: data.length })
    }
    this.durable = new Map(this.names)
  }

  /** A disk with the same files, all of them durable. */
  copy(): SimDisk {
    const copy = new SimDisk(this.simulator)
    for (const [name, { data }] of this.names) copy.names.set(name, { data, synced: data.length })
    copy.durable = new Map(copy.names)
    return copy
  }

  private operations(step: (low_ms: number, high_ms: number) => Promise<void>, sync: () => Promise<void>): Disk {
    return {
      read: async (file, most = Infinity) => {
        await step(0.01, 0.2)
        const inode = this.names.get(file)
        refuseLong(file, inode?.data.length ?? 0, most)
        return inode && Buffer.from(inode.data)
      },
      write: async (file, data, options: WriteOptions = {}) => {
        const durable = options.durable !== false
        await (durable ? sync() : step(0.02, 0.2))
        const content = Buffer.from(data)
        this.takeRoom(file, content.length)
        this.faults.strike(file, 'rename')
        this.rename(new Map([[file, { data: content, synced: durable ? content.length : 0 }]]))
        if (!durable) return
        await sync()
        this.faults.strike(file, 'sync')
        this.syncDirectory(path.dirname(file))
      },
      room: async () => {
        await step(0.01, 0.1)
        return this.room_bytes
      },
      openAppender: async (file, options = {}) => {
        await step(0.05, 0.5)
        return this.appender(file, options, sync)
      },
      append: async (file, data) => {
        await step(0.02, 0.2)
        const isNew = (this.names.get(file)?.data.length ?? 0) === 0
        const appender = await this.appender(file, { durable: false }, sync)
        await appender.append(data)
        const inode = this.names.get(file)
        if (inode !== undefined) await this.syncAppended(file, inode, data.length, sync)
        if (isNew) this.syncDirectory(path.dirname(file))
      },
      rename: async (from, to) => {
        await step(0.02, 0.2)
        const inode = this.names.get(from)
        if (inode === undefined) throw missing(from)
        this.faults.strike(to, 'rename')
        this.rename(new Map([[from, undefined], [to, inode]])) // prettier-ignore
        await sync()
        this.faults.strike(to, 'sync')
        for (const directory of [to, from]) this.syncDirectory(path.dirname(directory))
      },
      remove: async (file, options = {}) => {
        await step(0.02, 0.2)
        removeSocket(file)
        if (this.names.has(file)) this.rename(new Map([[file, undefined]]))
        if (options.durable !== true) return
        await sync()
        this.syncDirectory(path.dirname(file))
      },
      list: async (directory) => {
        await step(0.01, 0.2)
        return this.list(directory)
      },
      makeDirectory: () => step(0.01, 0.1),
    }
  }

  private async appender(file: string, options: AppenderOptions, sync: () => Promise<void>): Promise<Appender> {
    let inode = this.names.get(file)
    if (inode === undefined || options.truncate === true) {
      inode = { data: Buffer.alloc(0), synced: 0 }
      this.rename(new Map([[file, inode]]))
    }
    const open = inode
    const durable = options.durable !== false
    if (durable) {
      await sync()
      this.syncDirectory(path.dirname(file))
    }
    return {
      append: async (data) => {
        this.takeRoom(file, data.length)
        open.data = Buffer.concat([open.data, data])
        if (durable) await this.syncAppended(file, open, data.length, sync)
      },
      size: () => open.data.length,
      close: () => Promise.resolve(),
    }
  }

  /** What a failed sync leaves is cut off again, unless that fails, too. */
  private async syncAppended(file: string, inode: Inode, added: number, sync: () => Promise<void>): Promise<void> {
    const { length } = inode.data
    await sync()
    try {
      this.faults.strike(file, 'sync')
      inode.synced = Math.max(inode.synced, length)
    } catch (error) {
      try {
        await sync()
        this.faults.strike(file, 'sync')
      } catch {
        throw new UnsettledAppend(file, error)
      }
      inode.data = inode.data.subarray(0, length - added)
      inode.synced = Math.min(inode.synced, inode.data.length)
      throw error
    }
  }

  private rename(renaming: Renaming): void {
    apply(this.names, renaming)
    this.unsynced.push(renaming)
  }

  private syncDirectory(directory: string): void {
    const isThere = (renaming: Renaming) => [...renaming.keys()].some((name) => path.dirname(name) === directory)
    for (const renaming of this.unsynced) if (isThere(renaming)) apply(this.durable, renaming)
    this.unsynced = this.unsynced.filter((renaming) => !isThere(renaming))
  }

  private takeRoom(file: string, bytes: number): void {
    this.faults.strike(file, 'write')
    if (bytes > this.room_bytes)
      throw Object.assign(new Error(`ENOSPC: no space left on device, write '${file}'`), { code: 'ENOSPC' })
    this.room_bytes -= bytes
  }
}

function apply(names: Map<string, Inode>, renaming: Renaming): void {
  for (const [name, inode] of renaming) {
    if (inode === undefined) names.delete(name)
    else names.set(name, inode)
  }
}

const missing = (file: string) => Object.assign(new Error(`ENOENT: no such file, '${file}'`), { code: 'ENOENT' })
