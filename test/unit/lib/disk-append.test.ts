// An append that fails although its bytes have arrived is taken back, or says that nobody knows.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemDisk } from '../../../src/lib/disk'
import { UnsettledAppend } from '../../../src/lib/file/unsettled-append'

let mockFailures = 0
jest.mock('node:fs', () => {
  const actual: typeof fs = jest.requireActual('node:fs')
  const fdatasync = (fd: number, done: (error: Error | null) => void) =>
    mockFailures-- > 0 ? done(Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })) : actual.fdatasync(fd, done)
  return { ...actual, fdatasync }
})

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'disk-append-'))
const file = `${folder}/journal`
const text = () => fs.readFileSync(file, 'utf8')

beforeEach(() => {
  mockFailures = 0
  fs.writeFileSync(file, 'before\n')
})
afterAll(() => fs.rmSync(folder, { recursive: true }))

const ways: [name: string, append: (data: string) => Promise<void>][] = [
  ['append', (data) => systemDisk.append(file, Buffer.from(data))],
  [
    'an appender',
    async (data) => {
      const appender = await systemDisk.openAppender(file)
      await appender.append(Buffer.from(data)).finally(() => appender.close())
    },
  ],
]

test.each(ways)('%s whose sync fails leaves nothing behind, and names the file', async (_, append) => {
  mockFailures = 1
  const failure = await append('lost\n').catch((error: unknown) => error)
  expect(failure).not.toBeInstanceOf(UnsettledAppend)
  expect(failure).toMatchObject({ code: 'EIO', path: file })
  expect(text()).toBe('before\n')
  await append('kept\n')
  expect(text()).toBe('before\nkept\n')
})

test.each(ways)('%s that cannot be taken back says that nobody knows', async (_, append) => {
  mockFailures = 2
  await expect(append('lost\n')).rejects.toThrow(UnsettledAppend)
})
