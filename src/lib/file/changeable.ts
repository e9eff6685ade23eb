// Checks whether other users could change a program, by writing to it or by replacing it.
import * as path from 'node:path'
import { isMissing } from '../disk'
import type { Files } from '../files'

const WRITABLE = 0o022
const STICKY = 0o1000

/**
 * Why a program must not be started by its name in a folder. `root` is the node's root; directories above it do not
 * matter.
 */
export async function whyUnsafe(files: Files, file: string, root: string): Promise<string | undefined> {
  const info = await files.lstat(file).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (info === undefined) return `${file} does not exist`
  if (info.isSymbolicLink()) return `${file} is a link, which may lead anywhere: put the program itself there`
  if (!info.isFile()) return `${file} is not a plain file`
  const others = await changeableByOthers(files, file, root)
  if (others !== undefined) return `${others}: give it to root, and take that away with chmod go-w`
  return (info.mode & 0o100) === 0 ? `${file} is not executable by its owner: use chmod u+x` : undefined
}

/**
 * The file or directory that users other than root and ourselves may change. Undefined if there is none, or no such
 * program. Checks directories below `root`.
 */
export async function changeableByOthers(files: Files, file: string, root = '/'): Promise<string | undefined> {
  const [real, realRoot] = await Promise.all(
    [file, root].map((one) =>
      files.realpath(one).catch((error: unknown) => {
        if (isMissing(error)) return undefined
        throw error
      }),
    ),
  )
  if (real === undefined || realRoot === undefined) return undefined
  for (const place of new Set([...upwards(file, root), ...upwards(real, realRoot)])) {
    const stat = await files.lstat(place)
    if (stat.uid !== 0 && stat.uid !== process.geteuid?.()) return `${place} belongs to another user`
    // In a sticky directory such as /tmp everybody may write, but not replace others' files. Nobody can write to a
    // link.
    const shared = stat.isSymbolicLink() || (stat.isDirectory() && (stat.mode & STICKY) !== 0)
    if ((stat.mode & WRITABLE) !== 0 && !shared) return `${place} can be written by others`
  }
  return undefined
}

/** A file and the directories above it, up to the root. */
function upwards(file: string, root: string): string[] {
  const above = path.dirname(file)
  return above === file || file === path.resolve(root) ? [file] : [file, ...upwards(above, root)]
}
