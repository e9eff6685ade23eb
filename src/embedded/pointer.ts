// The note that tells `gnt` where the running embedded cluster listens.
import * as fs from 'node:fs'
import * as path from 'node:path'
import { embeddedPointers } from '../lib/find-socket'

/** Writes it to the first place that can be written; returns what takes it away again. */
export function writePointer(content: { socket: string; root: string; pid: number }): () => void {
  for (const file of embeddedPointers()) {
    try {
      fs.mkdirSync(path.dirname(file), { recursive: true, mode: 0o755 })
      fs.writeFileSync(file, JSON.stringify(content) + '\n', { mode: 0o644 })
      return () => removeOwn(file, content.pid)
    } catch {
      // Not writable for this user: the next one.
    }
  }
  return () => undefined
}

/** A cluster that was started later may have taken the place. */
function removeOwn(file: string, pid: number): void {
  try {
    if (JSON.parse(fs.readFileSync(file, 'utf8')).pid === pid) fs.rmSync(file)
  } catch {
    // It is gone already.
  }
}
