// The note that tells `gnt` where the running embedded cluster listens. There is one for a user: of several clusters that run side
// by side it is the first one's, and the others are found by GANETI_LUXI_SOCKET.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { embedded, embeddedPointers } from '../lib/find-socket'

export interface Pointer {
  /** Whether `gnt` finds this cluster by itself. */
  found: boolean
  remove(): void
}

/** Writes it to the first place that can be written, unless another cluster that runs stands in one. */
export function writePointer(content: { socket: string; root: string; pid: number }): Pointer {
  const nothing = { found: false, remove: () => undefined }
  if (embedded() !== undefined) return nothing
  for (const file of embeddedPointers()) {
    try {
      fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 })
      fs.writeFileSync(file, JSON.stringify(content) + '\n', { mode: 0o644 })
      return { found: true, remove: () => fs.rmSync(file, { force: true }) }
    } catch {
      // Not writable for this user: the next one.
    }
  }
  return nothing
}
