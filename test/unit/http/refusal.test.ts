// Whoever is refused before a request is heard cannot stay connected.
import { createServer, type Server } from 'node:https'
import { type AddressInfo, connect, type Socket } from 'node:net'
import * as tls from 'node:tls'
import { type Refusal, refuse } from '../../../src/http/refusal'
import { systemClock } from '../../../src/lib/clock'
import { createCertificate } from '../../../src/lib/tls'
import { HTTP_LIMITS } from '../../../src/model/limits/http'

const WORDS = { type: 'text/plain', body: ({ message }: Refusal) => Buffer.from(message) }
const OPTIONS = { words: WORDS, clock: systemClock, limits: HTTP_LIMITS }

let server: Server
let port: number

beforeAll(async () => {
  const pem = await createCertificate()
  server = createServer({ key: pem, cert: pem, handshakeTimeout: 1000 })
  server.on('clientError', (error, socket: Socket) => refuse(error, socket, OPTIONS))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => new Promise<void>((resolve) => server.close(() => resolve())))

const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))

test('a client that does not end its handshake is hung up on', async () => {
  const [accepted] = await Promise.all([
    new Promise<Socket>((resolve) => server.once('connection', resolve)),
    closed(connect(port, '127.0.0.1').resume()),
  ])
  expect(accepted.destroyed).toBe(true)
})

test('a client that was refused cannot keep its connection', async () => {
  const options = { host: '127.0.0.1', port, rejectUnauthorized: false, allowHalfOpen: true }
  const client = tls.connect(options, () => client.write('no HTTP\r\n\r\n'))
  const accepted = await new Promise<tls.TLSSocket>((resolve) => server.once('secureConnection', resolve))
  await closed(accepted)
  client.on('error', () => undefined).destroy()
})
