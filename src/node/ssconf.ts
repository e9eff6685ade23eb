// The ssconf files of this node, read once and again only after they changed.
import { fileStamp } from '../lib/file-stamp'
import type { Files } from '../lib/files'
import type { Paths } from '../lib/paths'

export interface Ssconf {
  /** The lines of a key without their ends; none when the file does not exist. */
  lines(key: string): string[]
  /** The first line, or undefined. */
  value(key: string): string | undefined
}

/** A file is stat'ed for each look-up (some microseconds) and read only when it is another one or was written to. */
export function openSsconf(paths: Paths, files: Files): Ssconf {
  const cache = new Map<string, { stamp: string; lines: string[] }>()
  const lines = (key: string): string[] => {
    const file = paths.ssconf(key)
    const stamp = fileStamp(files, file)
    if (stamp === undefined) {
      cache.delete(key)
      return []
    }
    const known = cache.get(key)
    if (known?.stamp === stamp) return known.lines
    const text = files.readFileSync(file, 'utf8')
    const fresh = text === '' ? [] : text.replace(/\n$/, '').split('\n')
    cache.set(key, { stamp, lines: fresh })
    return fresh
  }
  return { lines, value: (key) => lines(key)[0] }
}
