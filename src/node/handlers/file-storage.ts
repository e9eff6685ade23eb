// Node calls about directories of disk files and about the usage of storage.
import * as path from 'node:path'
import { errorCode, isMissing } from '../../lib/disk'
import { accessible } from '../../lib/files'
import { STORED_FILES_MAX } from '../../model/limits/node'
import { DIRECTORY_SIZE_S } from '../../model/limits/storage'
import type { StorageInfo, StorageUnit, StoredFile } from '../../rpc/node/dicts'
import type { Handlers, NodeContext } from '../context'
import { fail } from '../failure'
import { checkFileStoragePath } from '../storage/allowed-paths'
import { groupSpace, spindleSpace } from '../storage/lvm/space'
import { reportsOf } from '../storage/volume-reports'
import { isDirectoryStorage } from '../../model/templates'

const MIB = 1 << 20

export const fileStorageHandlers = {
  async file_storage_dir_create(context, directory) {
    await context.files.mkdir(await checkFileStoragePath(context, directory), { recursive: true, mode: 0o750 })
    return null
  },

  async file_storage_dir_remove(context, directory) {
    const local = await checkFileStoragePath(context, directory)
    try {
      await context.files.rmdir(local)
    } catch (error) {
      if (!isMissing(error)) fail(`Cannot remove directory '${context.paths.virtual(local)}': ${describe(error)}`)
    }
    return null
  },

  async file_storage_dir_rename(context, from, to) {
    const old = await checkFileStoragePath(context, from)
    const target = await checkFileStoragePath(context, to)
    if (await accessible(context.files, target)) {
      // An interrupted rename may already be complete. But if both directories exist, it is an error.
      if (await accessible(context.files, old)) fail(`Cannot rename '${old}' to '${target}': both exist`)
      return null
    }
    await context.files.rename(old, target)
    return null
  },

  async gantry_file_link(context, names) {
    const made: string[] = []
    try {
      for (const [from, to] of names) {
        const old = await checkFileStoragePath(context, from)
        const desired = await checkFileStoragePath(context, to)
        if (await isOneFile(context, old, desired)) continue
        await context.files.link(old, desired)
        made.push(desired)
      }
      const folders = made.flatMap((file) => [path.dirname(file), path.dirname(path.dirname(file))])
      for (const folder of new Set(folders)) await syncFolder(context, folder)
      return true
    } catch (error) {
      for (const file of made) await context.files.rm(file, { force: true })
      const code = errorCode(error) ?? ''
      if (CANNOT_LINK.has(code)) return false
      return code === ''
        ? Promise.reject(error)
        : fail(`Cannot give the files of disks other names: ${describe(error)}`)
    }
  },

  async storage_list(context, type, args, name, fields) {
    const units = await storageUnits(context, type, args)
    const rows = name === null ? units : units.filter((unit) => unit['name'] === name)
    return rows.map((unit) => fields.map((field) => unit[field] ?? fail(`Unknown storage field '${field}'`)))
  },

  async storage_modify(context, type, _args, name, changes) {
    await reportsOf(context).modify(type, name, changes)
    return null
  },

  async storage_execute(context, type, _args, name, operation) {
    await reportsOf(context).repair(type, name, operation)
    return null
  },

  gantry_file_storage_list(context, directories) {
    return Promise.all(directories.map((directory) => filesBelow(context, directory)))
  },

  async get_file_info({ files }, file) {
    try {
      const info = await files.stat(file)
      return info.isFile() ? [true, { size: info.size }] : [false, {}]
    } catch (error) {
      if (isMissing(error)) return [false, {}]
      throw error
    }
  },
} satisfies Partial<Handlers>

/** Not for all file systems, and not for files of other accounts. */
const CANNOT_LINK: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'])

/** Whether an interrupted call has already made the second name. */
async function isOneFile({ files }: NodeContext, one: string, other: string): Promise<boolean> {
  if (!(await accessible(files, other))) return false
  const [a, b] = [await files.stat(one), await files.stat(other)]
  return a.dev === b.dev && a.ino === b.ino
}

async function syncFolder({ files }: NodeContext, folder: string): Promise<void> {
  const handle = await files.open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** node_info's answer for a storage unit; null if this node cannot tell. */
export async function storageInfo(context: NodeContext, [type, key, params]: StorageUnit): Promise<StorageInfo | null> {
  if (isDirectoryStorage(type)) {
    const space = await spaceOf(context, context.paths.fromWire(key))
    return space && { type, name: key, storage_free: space.free_mib, storage_size: space.size_mib }
  }
  const exclusive = params[0] === true
  if (type === 'lvm-vg') return groupSpace(reportsOf(context), key, exclusive)
  return type === 'lvm-pv' ? spindleSpace(reportsOf(context), key, exclusive) : null
}

type Unit = Readonly<Record<string, string | number | boolean>>

async function storageUnits(context: NodeContext, type: string, args: readonly unknown[]): Promise<Unit[]> {
  if (isDirectoryStorage(type)) {
    const directories = Array.isArray(args[0]) ? args[0].map(String) : []
    return Promise.all(directories.map((directory) => directoryUnit(context, directory)))
  }
  if (type === 'lvm-vg')
    return (await reportsOf(context).groups()).map(({ name, size_mib, free_mib }) =>
      unit(name, size_mib, free_mib, true),
    )
  if (type === 'lvm-pv')
    return (await reportsOf(context).physical()).map(({ name, size_mib, free_mib, allocatable }) =>
      unit(name, size_mib, free_mib, allocatable),
    )
  return fail(`Unknown storage type '${type}'`)
}

const unit = (name: string, size: number, free: number, allocatable: boolean): Unit => {
  return { name, size: Math.round(size), used: Math.round(size - free), free: Math.round(free), allocatable }
}

async function directoryUnit(context: NodeContext, directory: string): Promise<Unit> {
  const local = context.paths.fromWire(directory)
  const space = (await spaceOf(context, local)) ?? fail(`Storage directory '${directory}' does not exist`)
  const { code, stdout, output } = await context.run(['du', '-s', '-k', '-x', local], { timeout_s: DIRECTORY_SIZE_S })
  if (code !== 0) fail(`Cannot measure '${directory}': ${output.trim()}`)
  const used = Math.round(Number(stdout.split(/\s/)[0]) / 1024)
  return { name: directory, size: space.size_mib, used, free: space.free_mib, allocatable: true }
}

async function filesBelow(context: NodeContext, directory: string): Promise<StoredFile[]> {
  const local = await checkFileStoragePath(context, directory)
  const entries = await context.files
    .readdir(local, { recursive: true, withFileTypes: true })
    .catch((error: unknown) => {
      if (isMissing(error)) return []
      throw error
    })
  const there = entries.filter((entry) => entry.isFile())
  if (there.length > STORED_FILES_MAX) fail(`'${directory}' holds more than ${STORED_FILES_MAX} files`)
  const found: StoredFile[] = []
  for (const entry of there) {
    const file = path.join(entry.parentPath, entry.name)
    const info = await context.files.stat(file).catch(() => undefined)
    if (info !== undefined) found.push([context.paths.virtual(file), info.size])
  }
  return found
}

async function spaceOf(
  { files }: NodeContext,
  directory: string,
): Promise<{ size_mib: number; free_mib: number } | null> {
  try {
    const { bsize, blocks, bavail } = await files.statfs(directory)
    return { size_mib: Math.floor((blocks * bsize) / MIB), free_mib: Math.floor((bavail * bsize) / MIB) }
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

const describe = (error: unknown) => (error instanceof Error ? error.message.replace(/, \w+ '.*$/, '') : String(error))
