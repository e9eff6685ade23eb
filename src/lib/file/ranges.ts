// Reads and writes whole ranges of an open file. The kernel may do a part of what it is asked and report no error, as when a file system
// gets full or a limit of the file's size is reached. Only the number of bytes tells.
import type { FileHandle } from 'node:fs/promises'

/** Rejects unless the file has taken all bytes. */
export async function writeAll(handle: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
    if (bytesWritten === 0) throw new Error(`the file takes no more bytes at ${position + done}`)
    done += bytesWritten
  }
}

/** The bytes from there on. Fewer than asked for only at the end of the file. */
export async function readAll(handle: FileHandle, length: number, position: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length)
  let done = 0
  while (done < length) {
    const { bytesRead } = await handle.read(buffer, done, length - done, position + done)
    if (bytesRead === 0) break
    done += bytesRead
  }
  return buffer.subarray(0, done)
}
