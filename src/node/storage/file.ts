// Disks as plain files below an allowed directory, on this node's own file system or on one that all nodes share.
import { KEEP_UNTIL_UNKNOWN } from '../../model/leftovers'
import type { FileHandle } from 'node:fs/promises'
import * as path from 'node:path'
import { errorCode, isMissing } from '../../lib/disk'
import { constants, type Files } from '../../lib/files'
import type { DiskDict } from '../../rpc/node/dicts'
import { fail } from '../failure'
import { checkFileStoragePath } from './allowed-paths'
import type { Device, Driver, DriverFactory, StorageContext } from './storage'

const MIB = 1 << 20

export const fileDriver: DriverFactory = (context): Driver =>
  driverOfFiles(context, ({ logical_id }) => filePath(context, logical_id))

/** `fileOf` returns the path of a disk's file, whether the file exists or not. */
export function driverOfFiles(context: StorageContext, fileOf: (disk: DiskDict) => Promise<string>): Driver {
  const { files } = context

  async function existing(disk: DiskDict): Promise<Device> {
    return (await find(disk)) ?? fail(`File device '${context.paths.virtual(await fileOf(disk))}' does not exist`)
  }
  async function find(disk: DiskDict): Promise<Device | undefined> {
    const file = await fileOf(disk)
    return (await sizeOf(files, file)) === undefined ? undefined : { path: file, block: false }
  }

  return {
    hasDisks: true,
    async create(disk, size_mib) {
      await createFile(await fileOf(disk), size_mib * MIB, context)
      return disk.logical_id ?? []
    },
    find,
    assemble: existing,
    open: () => Promise.resolve(),
    close: () => Promise.resolve(),
    async grow(_disk, device, amount_mib, { dryRun }) {
      if (amount_mib < 0) fail(`Cannot shrink a file disk (by ${-amount_mib} MiB)`)
      const size = (await files.stat(device.path)).size + amount_mib * MIB
      if (!dryRun) await resize(files, device.path, size)
    },
    remove: async (_disk, device) => files.rm(device.path, { force: true }),
    async rename(disk, device, newId) {
      const target = await fileOf({ ...disk, logical_id: newId })
      if ((await sizeOf(files, target)) !== undefined) fail(`File already exists: ${context.paths.virtual(target)}`)
      await files.rename(device.path, target)
    },
    setInfo: () => Promise.resolve(),
    async snapshot(disk, device, wished) {
      const [driver = '', wire = ''] = disk.logical_id ?? []
      const id = [driver ?? '', `${String(wire)}.${wished ?? 'snap'}`]
      const copy = await fileOf({ ...disk, logical_id: id })
      // A snapshot left by an interrupted export is replaced. A snapshot that a user named is kept.
      if (wished === null) await files.rm(copy, { force: true })
      await shareBlocks(context, device.path, copy)
      return id
    },
    async snapshotProblem({ path: file }) {
      const folder = path.dirname(file)
      return (await canShareIn(files, folder)) ? null : cannotShareText(context.paths.virtual(file))
    },
    dimensions: async (_disk, { path: file }) => ({ size_bytes: (await files.stat(file)).size, spindles: null }),
  }
}

async function filePath(context: StorageContext, logicalId: DiskDict['logical_id']): Promise<string> {
  const [, wire] = logicalId ?? []
  if (typeof wire !== 'string') fail(`A file disk's logical id is [driver, path], not ${JSON.stringify(logicalId)}`)
  return checkFileStoragePath(context, wire)
}

/** Makes a copy that shares all blocks with the file. This takes no time, but only some file systems can do it. */
async function shareBlocks({ files, paths }: StorageContext, file: string, copy: string): Promise<void> {
  const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants
  try {
    await files.copyFile(file, copy, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE)
  } catch (error) {
    const code = errorCode(error) ?? ''
    if (code === 'EEXIST') fail(`File already exists: ${paths.virtual(copy)}; give the snapshot another name`)
    // A partial copy is useless.
    await files.rm(copy, { force: true })
    if (!cannotShare(error)) throw error
    fail(cannotShareText(paths.virtual(file)))
  }
}

const cannotShareText = (file: string): string =>
  `The file system of '${file}' cannot share blocks between files, so there are no snapshots: Btrfs, and XFS made with reflink=1, can`

/** Tries it with two small files, which are removed again: what a file system is called does not tell. Other failures are no answer. */
export async function canShareIn(files: Files, folder: string): Promise<boolean> {
  const trial = await files.mkdtemp(path.join(folder, '.trial-'))
  try {
    await files.writeFile(path.join(trial, 'a'), 'trial')
    await files.copyFile(path.join(trial, 'a'), path.join(trial, 'b'), constants.COPYFILE_FICLONE_FORCE)
    return true
  } catch (error) {
    return !cannotShare(error)
  } finally {
    await files.rm(trial, { recursive: true, force: true })
  }
}

/** Whether the file system has refused to share the blocks of files, and not for another reason, such as a full disk. */
export const cannotShare = (error: unknown): boolean => CANNOT_SHARE.has(errorCode(error) ?? '')

const CANNOT_SHARE: ReadonlySet<string> = new Set(['ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EINVAL', 'ENOTTY'])

/** Makes a sparse file with its full size. */
export async function createFile(
  file: string,
  size: number,
  context: Pick<StorageContext, 'files' | 'paths'>,
): Promise<void> {
  const handle = await open(file, context)
  try {
    await handle.truncate(size)
    await handle.sync()
    await handle.close()
  } catch (error) {
    await handle.close().catch(() => undefined)
    await context.files.rm(file, { force: true })
    throw error
  }
}

async function open(file: string, context: Pick<StorageContext, 'files' | 'paths'>): Promise<FileHandle> {
  try {
    return await context.files.open(file, 'wx', 0o600)
  } catch (error) {
    const displayed = context.paths.virtual(file)
    if (isMissing(error)) fail(`The directory of file disk '${displayed}' does not exist`)
    if (errorCode(error) === 'EEXIST') fail(`File already exists: ${displayed}; ${KEEP_UNTIL_UNKNOWN}`)
    throw error
  }
}

export async function resize(files: Files, file: string, size: number): Promise<void> {
  const handle = await files.open(file, 'r+')
  try {
    await handle.truncate(size)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function sizeOf(files: Files, file: string): Promise<number | undefined> {
  try {
    const info = await files.stat(file)
    return info.isFile() ? info.size : undefined
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
