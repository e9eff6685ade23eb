// Disks as plain files below an allowed directory: on this node's own file system, or on one that all nodes share.
import type { FileHandle } from 'node:fs/promises'
import { errorCode, isMissing } from '../../lib/disk'
import type { Files } from '../../lib/files'
import type { DiskDict } from '../../rpc/node/dicts'
import { fail } from '../failure'
import { checkFileStoragePath } from './allowed-paths'
import type { Device, Driver, DriverFactory, StorageContext } from './storage'

const MIB = 1 << 20

export const fileDriver: DriverFactory = (context): Driver =>
  driverOfFiles(context, ({ logical_id }) => filePath(context, logical_id))

/** `fileOf` tells where a disk's file is, whether it exists or not. */
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
    shutdown: () => Promise.resolve(),
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
    snapshot: async (disk) => fail(`A disk of template '${disk.dev_type}' has no snapshots`),
    dimensions: async (_disk, { path: file }) => ({ size_bytes: (await files.stat(file)).size, spindles: null }),
  }
}

async function filePath(context: StorageContext, logicalId: DiskDict['logical_id']): Promise<string> {
  const [, wire] = logicalId ?? []
  if (typeof wire !== 'string') fail(`A file disk's logical id is [driver, path], not ${JSON.stringify(logicalId)}`)
  return checkFileStoragePath(context, wire)
}

/** Sparse, but of its full size from the start. */
async function createFile(file: string, size: number, context: StorageContext): Promise<void> {
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

async function open(file: string, context: StorageContext): Promise<FileHandle> {
  try {
    return await context.files.open(file, 'wx', 0o600)
  } catch (error) {
    const shown = context.paths.virtual(file)
    if (isMissing(error)) fail(`The directory of file disk '${shown}' does not exist`)
    if (errorCode(error) === 'EEXIST') fail(`File already exists: ${shown}`)
    throw error
  }
}

async function resize(files: Files, file: string, size: number): Promise<void> {
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
