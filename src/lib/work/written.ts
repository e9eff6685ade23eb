// Writes to a stream no faster than its reader reads.
import type { Writable } from 'node:stream'

/** Writes, and resolves when there is room for more, or the reader has gone. */
export function written(stream: Writable, data: Buffer | string): Promise<void> {
  if (stream.destroyed || stream.writableEnded || stream.write(data)) return Promise.resolve()
  return roomIn(stream)
}

export function roomIn(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      stream.off('drain', go).off('close', go)
      resolve()
    }
    stream.once('drain', go).once('close', go)
  })
}
