// Which directories may hold disk files: those that this node's administrator lists in /etc/ganeti/file-storage-paths, and below.
// The master cannot change that file, so it cannot make a node write elsewhere.
import { errorText } from '../../lib/system-failure'
import * as fs from 'node:fs/promises'
import * as path from 'node:path'
import { isMissing } from '../../lib/disk'
import type { Paths } from '../../lib/paths'
import { PATH } from '../../model/constants/paths'
import { fail } from '../context'

/** Listing one of these, or something below, is a mistake that `verify` reports and that is not obeyed. */
const FORBIDDEN = [
  '/bin',
  '/boot',
  '/dev',
  '/etc',
  '/home',
  '/lib',
  '/lib64',
  '/proc',
  '/root',
  '/sbin',
  '/sys',
  '/usr',
]

/** The path on this machine; refuses one that is not below an allowed directory, or that a link leads out of it. */
export async function checkFileStoragePath(paths: Paths, wire: string): Promise<string> {
  if (!wire.startsWith('/')) fail(`File storage path must be absolute, got '${wire}'`)
  if (wire.includes('\0') || wire.split('/').includes('..'))
    fail(`File storage path '${clean(wire)}' is not a plain path`)
  const local = paths.fromWire(wire)
  const shown = paths.virtual(local)
  if (forbidden(shown)) fail(`Path '${shown}' uses a forbidden prefix`)
  const allowed = await allowedPaths(paths)
  const way = `add its directory to ${PATH.FILE_STORAGE_PATHS_FILE}`
  if (!allowed.some((directory) => isBelow(shown, directory)))
    fail(`Path '${shown}' is not acceptable for file storage: ${way}`)
  // The allowed directory itself may be a link: that one is the administrator's.
  const real = await realPlace(local)
  const places = await Promise.all(allowed.map((directory) => realPlace(paths.local(directory))))
  if (places.some((place) => isBelow(real, place))) return local
  return fail(`Path '${shown}' is not acceptable for file storage: a link leads to '${paths.virtual(real)}'; ${way}`)
}

/** Without links, as far as it exists. */
async function realPlace(file: string): Promise<string> {
  try {
    return await fs.realpath(file)
  } catch (error) {
    if (!isMissing(error)) throw error
    return path.join(await realPlace(path.dirname(file)), path.basename(file))
  }
}

/** The entries that are not usable as directories for disk files. */
export const badAllowedPaths = async (paths: Paths): Promise<string[]> => (await allowedPaths(paths)).filter(forbidden)

/** Why a directory cannot hold disk files, or undefined. */
export async function fileStorageProblem(paths: Paths, wire: string): Promise<string | undefined> {
  try {
    const local = await checkFileStoragePath(paths, wire)
    if (!(await fs.stat(local)).isDirectory()) return `The configured file storage path '${wire}' is not a directory`
    await fs.access(local, fs.constants.W_OK)
    return undefined
  } catch (error) {
    return isMissing(error) ? `The configured file storage path '${wire}' does not exist` : errorText(error)
  }
}

async function allowedPaths(paths: Paths): Promise<string[]> {
  try {
    const text = await fs.readFile(paths.local(PATH.FILE_STORAGE_PATHS_FILE), 'utf8')
    const lines = text.split('\n').map((line) => line.trim())
    return lines
      .filter((line) => line.startsWith('/'))
      .map((line) => path.posix.normalize(line).replace(/(.)\/$/, '$1'))
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

const isBelow = (file: string, directory: string) => file === directory || file.startsWith(directory + '/')
const forbidden = (file: string) => file === '/' || FORBIDDEN.some((directory) => isBelow(file, directory))
const clean = (text: string) => JSON.stringify(text).slice(1, -1)
