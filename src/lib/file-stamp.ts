// Whether a file is still the one that was read: a stat costs microseconds, so caches of small files ask each time.
import type { Files } from './files'

/** Differs after each replacement or write; undefined when there is no such file. */
export function fileStamp(files: Pick<Files, 'statSync'>, file: string): string | undefined {
  // An exception for each file that may be missing would cost ten times the look.
  const found = files.statSync(file, { bigint: true, throwIfNoEntry: false })
  return found && `${found.ino} ${found.mtimeNs} ${found.ctimeNs} ${found.size}`
}
