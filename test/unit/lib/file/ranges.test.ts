// The kernel may do less than it is asked, without an error.
import type { FileHandle } from 'node:fs/promises'
import { readAll, writeAll } from '../../../../src/lib/file/ranges'

/** A file of so many bytes, which takes and gives at most three at a time. */
function slowFile(size: number) {
  const content = Buffer.alloc(size)
  const handle = {
    async write(bytes: Uint8Array, offset: number, length: number, position: number) {
      const bytesWritten = Math.max(0, Math.min(3, length, size - position))
      content.set(bytes.subarray(offset, offset + bytesWritten), position)
      return { bytesWritten }
    },
    async read(bytes: Uint8Array, offset: number, length: number, position: number) {
      const bytesRead = Math.max(0, Math.min(3, length, size - position))
      bytes.set(content.subarray(position, position + bytesRead), offset)
      return { bytesRead }
    },
  }
  return { content, handle: handle as unknown as FileHandle }
}

test('a range is written and read as a whole, in however many calls', async () => {
  const { content, handle } = slowFile(32)
  await writeAll(handle, Buffer.from('0123456789'), 5)
  expect(content.toString('latin1', 5, 15)).toBe('0123456789')
  expect((await readAll(handle, 10, 5)).toString()).toBe('0123456789')
})

test('a file that takes no more is an error, and does not keep anybody waiting', async () => {
  const { handle } = slowFile(8)
  await expect(writeAll(handle, Buffer.from('0123456789'), 0)).rejects.toThrow('the file takes no more bytes at 8')
})

test('only the end of the file makes a range shorter', async () => {
  const { handle } = slowFile(8)
  expect(await readAll(handle, 10, 4)).toHaveLength(4)
})
