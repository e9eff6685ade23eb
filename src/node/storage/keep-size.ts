// A file that stands for a disk keeps its size, whoever writes to it. A device ends where it ends, but a file would grow: its disk would then have
// data that other nodes, and guests elsewhere, do not have.
import type { Files } from '../../lib/files'
import { fail } from '../failure'
import { resize } from './file'

/** Fails if `work` has written beyond the end of the file, which gets its size again. Devices need no such care. */
export async function keepingSize<T>(files: Files, file: string, what: string, work: () => Promise<T>): Promise<T> {
  const size = await sizeOf(files, file)
  if (size === undefined) return work()
  const cutOff = async (): Promise<number> => {
    const beyond = ((await sizeOf(files, file)) ?? 0) - size
    if (beyond > 0) await resize(files, file, size)
    return beyond
  }
  let result: T
  try {
    result = await work()
  } catch (error) {
    await cutOff()
    throw error
  }
  const beyond = await cutOff()
  if (beyond > 0) fail(`${what} has ${size} bytes, and ${beyond} more were written beyond its end: they are lost`)
  return result
}

/** Undefined if it is no file. */
async function sizeOf(files: Files, file: string): Promise<number | undefined> {
  const found = await files.stat(file).catch(() => undefined)
  return found?.isFile() === true ? found.size : undefined
}
