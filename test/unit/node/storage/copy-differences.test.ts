// A disk gets the data of its snapshot again: only what differs is written.
import * as fs from 'node:fs/promises'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemFiles } from '../../../../src/lib/files'
import { copyDifferences } from '../../../../src/node/storage/image'

const KIB = 1024
let folder: string
beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'copy-differences-'))
})
afterEach(() => fs.rm(folder, { recursive: true }))

async function filesOf(from: Buffer, to: Buffer) {
  const [source, target] = [path.join(folder, 'from'), path.join(folder, 'to')]
  await fs.writeFile(source, from)
  await fs.writeFile(target, to)
  const written: [at: number, count: number][] = []
  const open: typeof systemFiles.open = async (file, flags) => {
    const handle = await systemFiles.open(file, flags)
    const { write } = handle
    const noting = (buffer: Buffer, offset: number, count: number, at: number) => {
      written.push([at, count])
      return Reflect.apply(write, handle, [buffer, offset, count, at]) as Promise<{ bytesWritten: number }>
    }
    return Object.assign(handle, { write: noting })
  }
  return { source, target, written, files: { ...systemFiles, open } }
}

test('what is equal is not written, neighbours are one write, and the end may be a part of a piece', async () => {
  const old = Buffer.alloc(2 * KIB * KIB + 100, 'a')
  const now = Buffer.from(old)
  now.fill('b', 0, 10)
  now.fill('b', 8 * KIB, 17 * KIB)
  now.fill('b', KIB * KIB + 5, KIB * KIB + 6)
  now.fill('b', old.length - 1)
  const { source, target, written, files } = await filesOf(old, now)
  await copyDifferences(files, source, target)
  expect((await fs.readFile(target)).equals(old)).toBe(true)
  expect(written).toEqual([
    [0, 4 * KIB],
    [8 * KIB, 12 * KIB],
    [KIB * KIB, 4 * KIB],
    [2 * KIB * KIB, 100],
  ])
})

test('a disk that has grown since keeps its end, and one that is smaller than its volume is not written beyond', async () => {
  const grown = await filesOf(Buffer.alloc(8 * KIB, 'a'), Buffer.alloc(12 * KIB, 'b'))
  await copyDifferences(grown.files, grown.source, grown.target)
  expect((await fs.readFile(grown.target, 'utf8')).replaceAll('a', '')).toBe('b'.repeat(4 * KIB))
  const smaller = await filesOf(Buffer.alloc(12 * KIB, 'a'), Buffer.alloc(8 * KIB, 'b'))
  await copyDifferences(smaller.files, smaller.source, smaller.target)
  expect((await fs.readFile(smaller.target, 'utf8')).length).toBe(8 * KIB)
})

test('when its caller gives up in the middle, the rest stays as it was, and the next one does it', async () => {
  const size = 3 * KIB * KIB
  const { source, target, files } = await filesOf(Buffer.alloc(size, 'a'), Buffer.alloc(size, 'b'))
  const caller = new AbortController()
  const open: typeof files.open = async (file, flags) => {
    const handle = await files.open(file, flags)
    const { write } = handle
    const last = (...input: unknown[]) => {
      caller.abort()
      return Reflect.apply(write, handle, input) as Promise<{ bytesWritten: number }>
    }
    return Object.assign(handle, { write: last })
  }
  await expect(copyDifferences({ ...files, open }, source, target, caller.signal)).rejects.toThrow('only its beginning')
  const left = await fs.readFile(target, 'utf8')
  expect([left.startsWith('a'), left.endsWith('b')]).toEqual([true, true])
  await copyDifferences(files, source, target)
  expect((await fs.readFile(target)).equals(await fs.readFile(source))).toBe(true)
})

test('it ends when its caller is gone', async () => {
  const { source, target, files } = await filesOf(Buffer.alloc(10, 'a'), Buffer.alloc(10, 'b'))
  await expect(copyDifferences(files, source, target, AbortSignal.abort())).rejects.toThrow('the caller is gone')
})
