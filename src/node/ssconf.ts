// This node's ssconf files, cached until they change.
import { fileVersion } from '../lib/file/file-version'
import type { Files } from '../lib/files'
import type { Paths } from '../lib/paths'

export interface Ssconf {
  /** The lines of a key without their ends; empty if the file does not exist. */
  lines(key: string): string[]
  /** The first line, or undefined. */
  value(key: string): string | undefined
}

/** A look-up stats the file (some microseconds), and reads it only if it was replaced or changed. */
export function openSsconf(paths: Paths, files: Files): Ssconf {
  const cache = new Map<string, { stamp: string; lines: string[] }>()
  const lines = (key: string): string[] => {
    const file = paths.ssconf(key)
    const stamp = fileVersion(files, file)
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
