// Durable file operations. Code that owns state takes a Disk, so that the simulation can tear its writes.
import * as sync from 'node:fs'
import { constants } from 'node:fs'
import * as fs from 'node:fs/promises'
import * as path from 'node:path'
import { promisify } from 'node:util'
import { UnsettledAppend } from './file/unsettled-append'

export interface FileOwner {
  uid: number
  gid: number
}

export interface WriteOptions {
  /** File mode; default 0640. */
  mode?: number
  owner?: FileOwner
  /** false skips the fsyncs, for files that a crash may lose. Default true. */
  durable?: boolean
}

export interface AppenderOptions {
  mode?: number
  truncate?: boolean
  /** As in `WriteOptions`. */
  durable?: boolean
}

/** A file that only grows: the configuration journal. */
export interface Appender {
  /** Resolves when the bytes are on the disk. When it rejects, nothing was added, unless it says `UnsettledAppend`. */
  append(data: Buffer): Promise<void>
  size(): number
  close(): Promise<void>
}

export interface Disk {
  /**
   * The content, or undefined if the file does not exist. Refuses a file of more than `most` bytes without reading it.
   */
  read(file: string, most?: number): Promise<Buffer | undefined>
  /** Replaces the file whole: temporary file, fsync, rename, fsync of the directory. */
  write(file: string, data: string | Buffer, options?: WriteOptions): Promise<void>
  openAppender(file: string, options?: AppenderOptions): Promise<Appender>
  /**
   * Appends to a file of this process, or creates it. It is durable when the promise resolves; when it rejects, nothing
   * was added, unless it says `UnsettledAppend`.
   */
  append(file: string, data: Buffer, options?: Omit<WriteOptions, 'durable'>): Promise<void>
  rename(from: string, to: string): Promise<void>
  /**
   * Removes a file; a missing file is no error. Without `durable`, which syncs the directory, the file may come back
   * after a power failure.
   */
  remove(file: string, options?: { durable?: boolean }): Promise<void>
  /** Names in a directory, or an empty list when it does not exist. */
  list(directory: string): Promise<string[]>
  makeDirectory(directory: string, mode?: number): Promise<void>
  /** Free bytes in the directory's file system. */
  room(directory: string): Promise<number>
}

let counter = 0

export const systemDisk: Disk = {
  async read(file, most = Infinity) {
    try {
      const fd = await open(file, constants.O_RDONLY, 0)
      try {
        refuseLong(file, sync.fstatSync(fd).size, most)
        return await readWhole(fd)
      } finally {
        sync.closeSync(fd)
      }
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
  },

  async write(file, data, options = {}) {
    const temporary = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.${counter++}.new`)
    try {
      const fd = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600)
      try {
        await naming(file, writeWhole(fd, data))
        own(fd, options)
        if (options.durable !== false) await naming(file, datasync(fd))
      } finally {
        sync.closeSync(fd)
      }
      await fs.rename(temporary, file)
    } catch (error) {
      await unlinked(temporary)
      throw error
    }
    if (options.durable !== false) await syncDirectory(path.dirname(file))
  },

  async openAppender(file, options = {}) {
    const flags =
      constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND | (options.truncate ? constants.O_TRUNC : 0)
    const handle = await fs.open(file, flags, options.mode ?? 0o640)
    let size = (await handle.stat()).size
    const durable = options.durable !== false
    if (durable) await syncDirectory(path.dirname(file))
    return {
      async append(data) {
        await orTakenBack(handle.fd, { file, size, durable }, async () => {
          await writeWhole(handle.fd, data)
          if (durable) await datasync(handle.fd)
        })
        size += data.length
      },
      size: () => size,
      close: () => handle.close(),
    }
  },

  async append(file, data, options = {}) {
    const fd = await open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o600)
    try {
      const { size } = sync.fstatSync(fd)
      await orTakenBack(fd, { file, size, durable: true }, async () => {
        if (size === 0) own(fd, options)
        await writeWhole(fd, data)
        await datasync(fd)
        if (size === 0) await syncDirectory(path.dirname(file))
      })
    } finally {
      sync.closeSync(fd)
    }
  },

  async rename(from, to) {
    await fs.rename(from, to)
    await syncDirectory(path.dirname(to))
    if (path.dirname(from) !== path.dirname(to)) await syncDirectory(path.dirname(from))
  },

  async remove(file, options = {}) {
    await unlinked(file)
    if (options.durable) await syncDirectory(path.dirname(file))
  },

  async room(directory) {
    const { bavail, bsize } = await fs.statfs(directory)
    return bavail * bsize
  },

  async list(directory) {
    try {
      return await fs.readdir(directory)
    } catch (error) {
      if (isMissing(error)) return []
      throw error
    }
  },

  async makeDirectory(directory, mode = 0o750) {
    await fs.mkdir(directory, { recursive: true, mode })
  },
}

export function refuseLong(file: string, size: number, most: number): void {
  if (size > most) throw new Error(`${file} has ${size} bytes, which is more than ${most}`)
}

function own(fd: number, { mode, owner }: WriteOptions): void {
  sync.fchmodSync(fd, mode ?? 0o640)
  if (owner) sync.fchownSync(fd, owner.uid, owner.gid)
}

async function unlinked(file: string): Promise<void> {
  // Usually there is nothing to remove, and an exception costs more than this check.
  if (sync.lstatSync(file, { throwIfNoEntry: false }) === undefined) return
  try {
    await fs.unlink(file)
  } catch (error) {
    if (!isMissing(error)) throw error
  }
}

interface DirectorySync {
  readonly running: Promise<void>
  next?: Promise<void>
}

const directorySyncs = new Map<string, DirectorySync>()

/**
 * One sync serves all callers that ask before it begins. When many files are written together, few wait for a sync of
 * their own.
 */
function syncDirectory(directory: string): Promise<void> {
  const current = directorySyncs.get(directory)
  if (current === undefined) return startSync(directory)
  const start = () => startSync(directory)
  return (current.next ??= current.running.then(start, start))
}

function startSync(directory: string): Promise<void> {
  const sync: DirectorySync = { running: fsyncDirectory(directory) }
  directorySyncs.set(directory, sync)
  const forget = () => {
    if (sync.next === undefined) directorySyncs.delete(directory)
  }
  sync.running.then(forget, forget)
  return sync.running
}

async function fsyncDirectory(directory: string): Promise<void> {
  const fd = sync.openSync(directory, constants.O_RDONLY)
  try {
    await fsync(fd)
  } finally {
    sync.closeSync(fd)
  }
}

/**
 * Work on an open file in the page cache takes microseconds, so we do it at once. In the thread pool it would cost ten
 * times as much, and every job of the cluster writes a dozen small files. The pool does slow work: syncs, long writes,
 * and changes of a directory, which wait while another process syncs it.
 */
const AT_ONCE_BYTES_MAX = 64 << 10

const open = promisify<string, number, number, number>(sync.open)

const readSome = promisify(sync.read)
const readLong = promisify<number, Buffer>(sync.readFile)
const datasync = promisify(sync.fdatasync)
const fsync = promisify(sync.fsync)
const writeLong = promisify<number, Buffer>(sync.writeFile)

/** The size of an open file is known at once; its content may have to come from the disk. */
async function readWhole(fd: number): Promise<Buffer> {
  const { size } = sync.fstatSync(fd)
  if (size > 0 && size <= AT_ONCE_BYTES_MAX) {
    const { bytesRead, buffer } = await readSome(fd, Buffer.allocUnsafe(size), 0, size, 0)
    if (bytesRead === size) return buffer
  }
  // Files of the kernel report no size. Nothing has been read so far.
  return readLong(fd)
}

/** An error about an open file does not name it, so this adds the name. */
async function naming(file: string, action: Promise<void>): Promise<void> {
  return action.catch((error: unknown) => {
    throw errorCode(error) === undefined ? error : Object.assign(Object(error), { path: file })
  })
}

/** If the work fails, the file ends again where it ended before. */
async function orTakenBack(
  fd: number,
  { file, size, durable }: { file: string; size: number; durable: boolean },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await naming(file, work())
  } catch (error) {
    try {
      sync.ftruncateSync(fd, size)
      if (durable) await datasync(fd)
    } catch {
      throw new UnsettledAppend(file, error)
    }
    throw error
  }
}

async function writeWhole(fd: number, data: string | Buffer): Promise<void> {
  const bytes = typeof data === 'string' ? Buffer.from(data) : data
  if (bytes.length > AT_ONCE_BYTES_MAX) return writeLong(fd, bytes)
  for (let at = 0; at < bytes.length;) at += sync.writeSync(fd, bytes, at)
}

/** Removes temporary files of `write` whose process was killed before it could rename or remove them. */
export async function removeLeftovers(disk: Disk, directory: string): Promise<void> {
  for (const name of await disk.list(directory)) {
    const writer = /^\..+\.(\d+)\.\d+\.new$/.exec(name)?.[1]
    if (writer !== undefined && !sync.existsSync(`/proc/${writer}`)) await disk.remove(path.join(directory, name))
  }
}

export const isMissing = (error: unknown): boolean => errorCode(error) === 'ENOENT'

/** Whether nothing can be written, though what is there can be read. */
export const isFull = (error: unknown): boolean => ['ENOSPC', 'EDQUOT', 'EROFS'].includes(errorCode(error) ?? '')

/** The system's error name (`ENOENT`, `ECONNREFUSED`), or undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  // Not `instanceof Error`: the system's errors may come from another realm than the asking code.
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined
  return typeof error.code === 'string' ? error.code : undefined
}
