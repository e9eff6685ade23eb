// Tells whether a file has changed since it was read. A stat costs microseconds, so caches of small files check each
// time.
import type { Files } from '../files'

/** Changes with each replacement or write; undefined if the file does not exist. */
export function fileVersion(files: Pick<Files, 'statSync'>, file: string): string | undefined {
  // An exception for a missing file would cost ten times as much.
  const found = files.statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.ino} ${found.mtimeNs} ${found.ctimeNs} ${found.size}`
}
