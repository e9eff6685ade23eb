// A client of a served disk that breaks the rules loses its connection, and the log says why.
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemFiles } from '../../../../src/lib/files'
import { silentLog } from '../../../../src/lib/log'
import { type NbdServer, serveNbd, type Served } from '../../../../src/node/mirror/nbd'
import { NbdClient } from '../../../support/nbd-client'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'nbd-'))
const file = path.join(folder, 'disk')
const warn = jest.fn()
const read = jest.fn(async (_offset: number, length: number) => Buffer.alloc(length))
const nothing = () => Promise.resolve()
const served: Served = { size: () => 8192, read, write: nothing, zero: nothing, flush: nothing }
let server: NbdServer

beforeEach(async () => {
  warn.mockReset()
  server = await serveNbd(systemFiles, { ...silentLog, warn }, file, served)
})
afterEach(() => server.close())
afterAll(() => fs.rmSync(folder, { recursive: true }))

const option = (number: number, content: Buffer, length = content.length): Buffer => {
  const head = Buffer.alloc(16)
  head.write('IHAVEOPT')
  head.writeUInt32BE(number, 8)
  head.writeUInt32BE(length, 12)
  return Buffer.concat([head, content])
}
const request = (type: number, length: number): Buffer => {
  const head = Buffer.alloc(28)
  head.writeUInt32BE(0x25609513, 0)
  head.writeUInt16BE(type, 6)
  head.writeUInt32BE(length, 24)
  return head
}
const OPEN = option(1, Buffer.from('disk'))

/** Sends this after the greeting, and waits until the connection is closed. */
async function said(...parts: Buffer[]): Promise<unknown[]> {
  const socket = net.connect(file)
  socket.resume().write(Buffer.concat([Buffer.from([0, 0, 0, 3]), ...parts]))
  await once(socket, 'close')
  return warn.mock.calls.map(([fields, text]: [{ error: string }, string]) => `${text}: ${fields.error}`)
}

const CLOSED = 'the connection of a client of a disk is closed: '
test.each([
  ['words', [Buffer.alloc(16, 'x')], 'what it sent is no option of NBD'],
  ['a long option', [option(7, Buffer.alloc(0), 5000)], 'its option 7 has 5000 bytes'],
  ['another disk', [option(1, Buffer.from('other'))], 'it asked for the export "other"'],
  ['words instead of a request', [OPEN, Buffer.alloc(28, 'x')], 'what it sent is no request of NBD'],
  ['a long request', [OPEN, request(0, 33 << 20)], 'its request has 34603008 bytes'],
])('%s', async (_what, parts, why) => {
  expect(await said(...parts)).toEqual([CLOSED + why])
})

test('nothing is said of a client that leaves', async () => {
  expect(await said(option(2, Buffer.alloc(0)))).toEqual([])
  expect(await said(OPEN, request(2, 0))).toEqual([])
})

test('the first failure of a request is told, and the connection goes on', async () => {
  const client = await NbdClient.open(file)
  read.mockRejectedValueOnce(new Error('no such block')).mockRejectedValueOnce(new Error('no such block'))
  for (let times = 0; times < 2; times++) await expect(client.read(0, 512)).rejects.toThrow()
  expect(await client.read(0, 512)).toEqual(Buffer.alloc(512))
  expect(warn.mock.calls).toEqual([[{ socket: file, error: 'no such block' }, 'a request for a disk failed']])
  client.close()
})
