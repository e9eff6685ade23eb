// Files are read whole, whatever their size and however many are read at once, and little memory is taken for them.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemFiles } from '../../../../src/lib/files'
import { SmallFiles } from '../../../../src/lib/file/small-files'

let folder: string
beforeAll(() => (folder = fs.mkdtempSync(path.join(os.tmpdir(), 'small-files-'))))
afterAll(() => fs.rmSync(folder, { recursive: true }))

test('files of all sizes are read whole, many at once', async () => {
  const files = new SmallFiles(systemFiles)
  const sizes = [0, 1, 8191, 8192, 8193, 16_384, 100_000]
  const texts = sizes.map((size, at) => `${'é'.repeat(size >> 1)}${at % 2 === 0 ? '' : 'x'}`)
  texts.forEach((text, at) => fs.writeFileSync(path.join(folder, String(at)), text))
  for (let round = 0; round < 3; round++)
    expect(await Promise.all(texts.map((_, at) => files.read(path.join(folder, String(at)))))).toEqual(texts)
})

test('what the kernel tells is read, though its files say that they are empty', async () => {
  const files = new SmallFiles(systemFiles)
  expect(await files.read('/proc/self/status')).toMatch(/^Name:.*\n[^]*\nThreads:/)
  expect(await files.read('/proc/self/environ')).toBe(fs.readFileSync('/proc/self/environ', 'utf8'))
})

test('a missing file is said to be missing, and each that was opened is closed', async () => {
  let open = 0
  const files = new SmallFiles({
    open: async (...args) => {
      const handle = await systemFiles.open(...args)
      open++
      const close = handle.close.bind(handle)
      return Object.assign(handle, { close: () => close().then(() => void open--) })
    },
  })
  await expect(files.read(path.join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
  await expect(files.read(folder)).rejects.toMatchObject({ code: 'EISDIR' })
  expect(open).toBe(0)
})

test('the same memory is used again, however many are read at once, and none of them reads what another one read', async () => {
  const taken = new Set<ArrayBufferLike>()
  const files = new SmallFiles({
    open: async (...args) => {
      const handle = await systemFiles.open(...args)
      const read = (buffer: Buffer, ...rest: [number, number, null]) => {
        taken.add(buffer.buffer)
        return Object.getPrototypeOf(handle).read.call(handle, buffer, ...rest)
      }
      return Object.assign(handle, { read })
    },
  })
  for (let n = 0; n < 50; n++) await files.read('/proc/self/status')
  expect(taken.size).toBe(1)
  const texts = Array.from({ length: 100 }, (_, at) => `this is file ${at} `.repeat(at))
  texts.forEach((text, at) => fs.writeFileSync(path.join(folder, `many-${at}`), text))
  expect(await Promise.all(texts.map((_, at) => files.read(path.join(folder, `many-${at}`))))).toEqual(texts)
  expect(taken.size).toBe(4)
})

test('a file that cannot be read holds up no other', async () => {
  const files = new SmallFiles(systemFiles)
  const missing = Array.from({ length: 20 }, () => files.read(path.join(folder, 'none')).catch(() => 'missing'))
  expect(await Promise.all([...missing, files.read('/proc/self/status')])).toEqual([
    ...missing.map(() => 'missing'),
    expect.stringContaining('Threads:'),
  ])
})

test("the machine's own files are read so where they are the kernel's, in the encoding that is asked for", async () => {
  expect(await systemFiles.readFile('/proc/self/environ', 'latin1')).toBe(
    fs.readFileSync('/proc/self/environ', 'latin1'),
  )
  expect(Buffer.isBuffer(await systemFiles.readFile('/proc/self/environ'))).toBe(true)
  await expect(systemFiles.readFile('/proc/none', 'utf8')).rejects.toMatchObject({ code: 'ENOENT' })
})
