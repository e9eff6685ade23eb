// Bodies that are refused for their length, from clients that send first and read later.
import * as tls from 'node:tls'
import { createLog } from '../../../../src/lib/log'
import { HTTP_LIMITS } from '../../../../src/model/limits/http'
import type { Master } from '../../../../src/rpc/luxi/master'
import { basic, Harness, RecordedMaster } from './harness'

const log = createLog('rapi', { level: 'silent' })
let harness: Harness

beforeAll(async () => {
  harness = await Harness.start(Object.assign(new RecordedMaster(), { gantry: {} }) as unknown as Master, { log })
})
afterAll(() => harness.stop())

const PIECE = Buffer.alloc(1 << 20, ' ')
const PIECES = (3 * HTTP_LIMITS.body_bytes) / PIECE.length

function connect(): Promise<tls.TLSSocket> {
  const options = { host: '127.0.0.1', port: harness.rapi.addresses[0]?.port, rejectUnauthorized: false }
  return new Promise((resolve, reject) => {
    const socket = tls.connect(options, () => resolve(socket)).on('error', reject)
  })
}

const write = (socket: tls.TLSSocket, data: Buffer | string): Promise<void> =>
  new Promise((resolve, reject) => socket.write(data, (error) => (error ? reject(error) : resolve())))

function readAll(socket: tls.TLSSocket): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    socket.on('data', (data: Buffer) => (text += data.toString('latin1')))
    socket.on('end', () => resolve(text)).on('error', reject)
  })
}

const head = (path: string, ...more: string[]): string =>
  [
    `POST ${path} HTTP/1.1`,
    ...['Host: x', `Authorization: ${basic('admin', 'secret')}`, 'Content-Type: application/json', ...more],
    ...['', ''],
  ].join('\r\n')

describe.each(['/2/groups', '/3/jobs'])('a body that is too long for %s', (path) => {
  test('is taken to its end, so that who sends it whole gets the answer', async () => {
    const socket = await connect()
    await write(socket, head(path, `Content-Length: ${PIECES * PIECE.length}`))
    for (let i = 0; i < PIECES; i++) await write(socket, PIECE)
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('is taken to its end also when its length was not told', async () => {
    const socket = await connect()
    await write(socket, head(path, 'Transfer-Encoding: chunked'))
    for (let i = 0; i < PIECES; i++) {
      await write(socket, `${PIECE.length.toString(16)}\r\n`)
      await write(socket, PIECE)
      await write(socket, '\r\n')
    }
    await write(socket, '0\r\n\r\n')
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('is one that comes in far too many pieces, too', async () => {
    const socket = await connect()
    await write(socket, head(path, 'Transfer-Encoding: chunked'))
    await write(socket, `${'1\r\n \r\n'.repeat(12_000)}0\r\n\r\n`)
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 413 /)
  })

  test('is refused before it is sent when the client asks first', async () => {
    const socket = await connect()
    await write(socket, head(path, `Content-Length: ${PIECES * PIECE.length}`, 'Expect: 100-continue'))
    const answer = await new Promise<string>((resolve) => socket.once('data', (data: Buffer) => resolve(String(data))))
    socket.destroy()
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
  })
})

test('a client that asks first and may send does so', async () => {
  const socket = await connect()
  await write(socket, head('/2/groups', 'Content-Length: 4', 'Expect: 100-continue'))
  const next = () => new Promise<string>((resolve) => socket.once('data', (data: Buffer) => resolve(String(data))))
  expect(await next()).toMatch(/^HTTP\/1\.1 100 /)
  await write(socket, 'oops')
  expect(await next()).toMatch(/^HTTP\/1\.1 400 /)
  socket.destroy()
})

test.each(['/2/groups', '/3/jobs'])('a client that leaves while it sends to %s is no defect', async (path) => {
  const error = jest.spyOn(log, 'error')
  const left = 'a client left while it sent its request'
  // The access log tells of the request, too.
  const reported = new Promise<void>((resolve) =>
    jest.spyOn(log, 'info').mockImplementation((...[, text]) => (text === left ? resolve() : undefined)),
  )
  const socket = await connect()
  await write(socket, head(path, 'Content-Length: 4') + 'oo')
  socket.destroy()
  await reported
  expect(error).not.toHaveBeenCalled()
})

test.each(['/2/groups', '/3/jobs'])('a client that ends its side within its body for %s is told so', async (path) => {
  const socket = await connect()
  await write(socket, `${head(path, 'Content-Length: 100')}{"a": `)
  socket.end()
  expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 400 [^]*"The request was not sent whole"/)
})

test('one user sends so many long bodies at the same time, and further ones are refused', async () => {
  const length = `Content-Length: ${HTTP_LIMITS.long_body_bytes + 1}`
  const sockets: tls.TLSSocket[] = []
  const begin = async (...more: string[]) => {
    const socket = await connect()
    sockets.push(socket)
    const answer = new Promise<string>((resolve) => socket.once('data', (data: Buffer) => resolve(String(data))))
    await write(socket, head('/2/groups', length, ...more))
    return answer
  }
  for (let i = 0; i < HTTP_LIMITS.long_bodies_per_user; i++)
    expect(await begin('Expect: 100-continue')).toMatch(/^HTTP\/1\.1 100 /)
  expect(await begin()).toMatch(/^HTTP\/1\.1 429 /)
  for (const socket of sockets) socket.destroy()
})
