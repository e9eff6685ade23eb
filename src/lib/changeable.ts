// Whether somebody else may change a program, by writing it or by putting another one in its place.
import * as path from 'node:path'
import { isMissing } from './disk'
import type { Files } from './files'

const WRITABLE = 0o022
const STICKY = 0o1000

/** Names the file or directory that others than root and who runs this may change; undefined when there is none, or no program. */
export async function changeableByOthers(files: Files, file: string): Promise<string | undefined> {
  const real = await files.realpath(file).catch((error: unknown) => {
    if (isMissing(error)) return undefined
    throw error
  })
  if (real === undefined) return undefined
  for (const place of new Set([...upwards(file), ...upwards(real)])) {
    const stat = await files.lstat(place)
    if (stat.uid !== 0 && stat.uid !== process.geteuid?.()) return `${place} belongs to another user`
    // Everybody may write into a directory such as /tmp, but not replace what others have there; and into a link nobody writes.
    const shared = stat.isSymbolicLink() || (stat.isDirectory() && (stat.mode & STICKY) !== 0)
    if ((stat.mode & WRITABLE) !== 0 && !shared) return `${place} can be written by others`
  }
  return undefined
}

/** A file and the directories above it. */
function upwards(file: string): string[] {
  const above = path.dirname(file)
  return above === file ? [file] : [file, ...upwards(above)]
}
