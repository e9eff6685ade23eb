// Which directories may hold disk files: those that this node's administrator lists in /etc/ganeti/file-storage-paths, and below.
import { constants } from '../../lib/files'
import { errorText } from '../../lib/system-failure'
import { isMissing } from '../../lib/disk'
import { PATH } from '../../model/constants/paths'
import { isBelow, isForbiddenForFiles } from '../../model/file-storage'
import { fail } from '../failure'
import { ledOutside, type Places, placesIn } from '../allowed-places'

/** The path on this machine; refuses one that is not below an allowed directory, or that a link leads out of it. */
export async function checkFileStoragePath(places: Places, wire: string): Promise<string> {
  const { paths } = places
  if (!wire.startsWith('/')) fail(`File storage path must be absolute, got '${wire}'`)
  if (wire.includes('\0') || wire.split('/').includes('..'))
    fail(`File storage path '${clean(wire)}' is not a plain path`)
  const local = paths.fromWire(wire)
  const displayed = paths.virtual(local)
  if (isForbiddenForFiles(displayed)) fail(`Path '${displayed}' uses a forbidden prefix`)
  const allowed = await allowedPaths(places)
  const way = `add its directory to ${PATH.FILE_STORAGE_PATHS_FILE}`
  if (!allowed.some((directory) => isBelow(displayed, directory)))
    fail(`Path '${displayed}' is not acceptable for file storage: ${way}`)
  const outside = await ledOutside(places, local, allowed)
  if (outside === undefined) return local
  return fail(`Path '${displayed}' is not acceptable for file storage: a link leads to '${outside}'; ${way}`)
}

/** The entries that are not usable as directories for disk files: `verify` reports them, and they are not obeyed. */
export const badAllowedPaths = async (places: Places): Promise<string[]> =>
  (await allowedPaths(places)).filter(isForbiddenForFiles)

/** Why a directory cannot hold disk files, or undefined. */
export async function fileStorageProblem(places: Places, wire: string): Promise<string | undefined> {
  try {
    const local = await checkFileStoragePath(places, wire)
    if (!(await places.files.stat(local)).isDirectory())
      return `The configured file storage path '${wire}' is not a directory`
    await places.files.access(local, constants.W_OK)
    return undefined
  } catch (error) {
    return isMissing(error) ? `The configured file storage path '${wire}' does not exist` : errorText(error)
  }
}

const allowedPaths = (places: Places): Promise<string[]> => placesIn(places, PATH.FILE_STORAGE_PATHS_FILE)

const clean = (text: string) => JSON.stringify(text).slice(1, -1)
