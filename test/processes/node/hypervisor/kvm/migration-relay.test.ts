// The program that carries a migration's connections, with a QEMU that is a server of this test.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import * as tls from 'node:tls'
import { clusterTls, createCertificate } from '../../../../../src/lib/tls'
import { relayProgram, type RelaySpec } from '../../../../../src/node/hypervisor/kvm/migration-relay'
import { freePort } from '../../../../support/hypervisor'

let folder: string
let pem: string
let port: number
const relays: ChildProcess[] = []
const qemus: net.Server[] = []

beforeAll(async () => void (pem = await createCertificate()))
beforeEach(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'relay-'))
  fs.writeFileSync(path.join(folder, 'pem'), pem)
  port = await freePort('127.0.0.1')
})
afterEach(() => {
  for (const relay of relays.splice(0)) relay.kill('SIGKILL')
  for (const qemu of qemus.splice(0)) qemu.close()
  fs.rmSync(folder, { recursive: true })
})

async function relay(side: RelaySpec['side']): Promise<ChildProcess> {
  const execArgv = ['--require', path.join(__dirname, '../../../../support/run-typescript.js')]
  const child = fork(relayProgram, ['vm1', folder], { execArgv, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  relays.push(child)
  const spec: RelaySpec = { side, socket: `${side}-socket`, address: '127.0.0.1', port, certificate: `${folder}/pem` }
  child.send(spec)
  expect(await once(child, 'message')).toEqual([{}, undefined])
  return child
}

/** QEMU as a target: it gives back what it gets. */
async function qemu(): Promise<void> {
  const server = net.createServer((socket) => void socket.on('error', () => undefined).pipe(socket))
  qemus.push(server)
  await once(server.listen(path.join(folder, 'target-socket')), 'listening')
}

test('what a source sends gets to the target, and back, and both programs end with the last connection', async () => {
  await qemu()
  const target = await relay('target')
  const source = await relay('source')
  const ended = Promise.all([once(target, 'exit'), once(source, 'exit')])
  const guest = Buffer.alloc(3 << 20, 'memory of a guest ')
  const socket = net.connect(path.join(folder, 'source-socket'))
  const got: Buffer[] = []
  socket.on('data', (data: Buffer) => void got.push(data)).end(guest)
  await once(socket, 'close')
  expect(Buffer.concat(got).equals(guest)).toBe(true)
  expect(await ended).toEqual([[0, null], [0, null]]) // prettier-ignore
})

test('a stranger who says nothing loses the connection, and QEMU hears nothing of it', async () => {
  await qemu()
  const received = jest.fn()
  qemus[0]?.on('connection', received)
  await relay('target')
  const stranger = net.connect(port, '127.0.0.1')
  await once(stranger.resume(), 'close')
  expect(received).not.toHaveBeenCalled()
  const member = tls.connect({ ...clusterTls(Buffer.from(pem)), port, host: '127.0.0.1', checkServerIdentity: () => undefined }) // prettier-ignore
  member.write('hello')
  expect(String((await once(member, 'data'))[0])).toBe('hello')
  member.destroy()
})
