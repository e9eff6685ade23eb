// Overwriting a part of a device with zeros.
import * as path from 'node:path'
import { writeAll } from '../../lib/file/ranges'
import type { Files } from '../../lib/files'
import { fail } from '../failure'

const MIB = 1 << 20
const ZEROS = Buffer.alloc(MIB)

interface Range {
  readonly offset_mib: number
  readonly size_mib: number
  /** Where the device ends. */
  readonly end_bytes: number
}

export async function overwrite(
  files: Files,
  device: string,
  { offset_mib, size_mib, end_bytes }: Range,
): Promise<void> {
  const [offset, size] = [offset_mib * MIB, size_mib * MIB]
  if (offset < 0 || size < 0 || offset + size > end_bytes)
    fail(`Cannot wipe beyond the end of ${path.basename(device)}`)
  const handle = await files.open(device, 'r+')
  try {
    for (let done = 0; done < size;) {
      const piece = Math.min(ZEROS.length, size - done)
      await writeAll(handle, ZEROS.subarray(0, piece), offset + done)
      done += piece
    }
    await handle.datasync()
  } finally {
    await handle.close()
  }
}
