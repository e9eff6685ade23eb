// Reads files up to a maximum length, so that a wrong file cannot fill the memory.
import * as fs from 'node:fs'
import type { Files } from '../files'

/** Reads a whole file as text. Refuses a longer one, such as a device. */
export function readBounded(file: string | number, most: number): string {
  const handle = typeof file === 'number' ? file : fs.openSync(file, 'r')
  try {
    const chunks: Buffer[] = []
    for (let total = 0; ;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
      const count = fs.readSync(handle, chunk)
      if (count === 0) return Buffer.concat(chunks).toString('utf8')
      total += count
      if (total > most) throw new Error(`it has more than ${most} bytes`)
      chunks.push(chunk.subarray(0, count))
    }
  } finally {
    if (typeof file !== 'number') fs.closeSync(handle)
  }
}

/** The same for plain files only: a pipe or a file of the kernel may never end. */
export async function readPlainFile(files: Files, file: string, most: number): Promise<string> {
  const handle = await files.open(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  try {
    const info = await handle.stat()
    if (!info.isFile()) throw new Error('it is no plain file')
    if (info.size > most) throw new Error(`it has more than ${most} bytes`)
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(info.size))
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

/** The last bytes of a plain file, such as a log, however long it is. */
export async function readEnd(files: Files, file: string, most: number): Promise<string> {
  const handle = await files.open(file, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK)
  try {
    const info = await handle.stat()
    if (!info.isFile()) throw new Error('it is no plain file')
    const length = Math.min(info.size, most)
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(length), 0, length, info.size - length)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}

const CHUNK_BYTES = 1 << 18
