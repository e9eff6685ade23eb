// Files that tell `gnt` where the running embedded cluster listens: one in its root, for users who set GANTRY_HOME, and one for the user.
// If several clusters run side by side, the first one writes the user's file.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { embedded, embeddedPointers, namesHome, pointerIn, readPointer } from '../lib/net/find-socket'

export interface Pointer {
  remove(): void
}

export function writePointer(content: { socket: string; root: string; pid: number }): Pointer {
  const own = pointerIn(content.root)
  const isFirst = embedded() === undefined
  write(own)
  // The first writable place.
  const user = isFirst && !namesHome() ? embeddedPointers().find(write) : undefined

  function write(file: string): boolean {
    try {
      fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 })
      fs.writeFileSync(file, JSON.stringify(content) + '\n', { mode: 0o644 })
      return true
    } catch {
      // This user cannot write the file.
      return false
    }
  }

  return {
    remove() {
      for (const file of [own, ...(user === undefined ? [] : [user])])
        if (readPointer(file)?.root === content.root) fs.rmSync(file, { force: true })
    },
  }
}
