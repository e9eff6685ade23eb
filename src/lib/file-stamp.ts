// Whether a file is still the one that was read: a stat costs microseconds, so caches of small files ask each time.
import * as fs from 'node:fs'
import { isMissing } from './disk'

/** Differs after each replacement or write; undefined when there is no such file. */
export function fileStamp(file: string): string | undefined {
  try {
    const { ino, mtimeNs, ctimeNs, size } = fs.statSync(file, { bigint: true })
    return `${ino} ${mtimeNs} ${ctimeNs} ${size}`
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
