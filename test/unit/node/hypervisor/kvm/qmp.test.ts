// Talking to a monitor of QEMU that answers late, in pieces, or not at all.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as path from 'node:path'
import { systemClock } from '../../../../../src/lib/clock'
import { LostMonitor, Qmp, SilentMonitor, withQmp } from '../../../../../src/node/hypervisor/kvm/qmp'
import { temporaryRoot } from '../../../../support/hypervisor'

interface Request {
  execute: string
  arguments?: unknown
  id: number
}

const GREETING = '{"QMP": {"version": {}, "capabilities": []}}\r\n'
let root: string
let file: string
let server: net.Server | undefined

beforeEach(() => {
  root = temporaryRoot()
  file = path.join(root, 'qmp')
})
afterEach(() => {
  server?.close()
  fs.rmSync(root, { recursive: true })
})

/** A monitor that greets, accepts the capabilities, and answers as told. */
async function monitor(answer: (request: Request, socket: net.Socket) => void, greeting = GREETING): Promise<void> {
  server = net.createServer((socket) => {
    socket.on('error', () => undefined)
    socket.write(greeting)
    let buffer = ''
    socket.on('data', (data) => {
      buffer += data.toString()
      for (let end = buffer.indexOf('\n'); end !== -1; end = buffer.indexOf('\n')) {
        const request = JSON.parse(buffer.slice(0, end)) as Request
        buffer = buffer.slice(end + 1)
        if (request.execute === 'qmp_capabilities') socket.write(`{"return": {}, "id": ${request.id}}\n`)
        else answer(request, socket)
      }
    })
  })
  await new Promise<void>((resolve) => server?.listen(file, resolve))
}

const reply = (request: Request, value: unknown) => JSON.stringify({ return: value, id: request.id }) + '\n'

test('a monitor that listens to nobody is silent, not gone', async () => {
  server = net.createServer()
  await new Promise<void>((resolve) => server?.listen({ path: file, backlog: 1 }, resolve))
  // None of them is accepted before this function waits.
  const others = Array.from({ length: 10 }, () => net.connect(file).on('error', () => undefined))
  const requested = withQmp(file, systemClock, (qmp) => qmp.run('one'))
  await expect(requested).rejects.toThrow(SilentMonitor)
  for (const socket of others) socket.destroy()
})

test('a command is answered with what QEMU returns, also in pieces and out of order', async () => {
  const held: Request[] = []
  await monitor((request, socket) => {
    held.push(request)
    const [first, second] = held
    if (!first || !second) return
    const text = reply(second, { b: 'ü' }) + reply(first, { a: 1 })
    for (const byte of Buffer.from(text)) socket.write(Buffer.from([byte]))
  })
  await withQmp(file, systemClock, async (qmp) => {
    expect(await Promise.all([qmp.object('one'), qmp.object('two', { x: 1 })])).toEqual([{ a: 1 }, { b: 'ü' }])
  })
  expect(held[1]?.arguments).toEqual({ x: 1 })
})

test("QEMU's refusal has its own words, and the connection goes on", async () => {
  await monitor((request, socket) => {
    if (request.execute === 'bad')
      socket.write(JSON.stringify({ error: { class: 'GenericError', desc: 'no such device' }, id: request.id }) + '\n')
    else socket.write(reply(request, { status: 'running' }))
  })
  await withQmp(file, systemClock, async (qmp) => {
    await expect(qmp.run('bad')).rejects.toMatchObject({ message: 'no such device', qmpClass: 'GenericError' })
    expect(await qmp.status()).toBe('running')
  })
})

test('an event that comes before the answer is not missed', async () => {
  await monitor((request, socket) => {
    socket.write('{"event": "DEVICE_DELETED", "data": {"device": "other"}, "timestamp": {}}\n')
    socket.write('{"event": "DEVICE_DELETED", "data": {"device": "disk-1"}, "timestamp": {}}\n')
    socket.write(reply(request, {}))
  })
  await withQmp(file, systemClock, async (qmp) => {
    const event = await qmp.eventAfter(
      'DEVICE_DELETED',
      (data) => data['device'] === 'disk-1',
      5,
      () => qmp.run('device_del'),
    )
    expect(event.data).toEqual({ device: 'disk-1' })
    await expect(
      qmp.eventAfter(
        'NEVER',
        () => true,
        0.05,
        () => Promise.resolve(),
      ),
    ).rejects.toThrow(/event NEVER within/)
  })
})

test('a command without an answer, and a monitor that goes away, end in an error that says so', async () => {
  await monitor((request, socket) => void (request.execute === 'quit' && socket.destroy()))
  await withQmp(file, systemClock, async (qmp) => {
    await expect(qmp.run('query-status', {}, 0.05)).rejects.toThrow('QEMU did not answer query-status within 0.05 s')
    await expect(qmp.run('quit')).rejects.toThrow('QEMU closed its monitor connection')
    // Who stops the guest tells by this that QEMU is ending, though its process may still be there.
    await expect(qmp.run('more')).rejects.toThrow(LostMonitor)
  })
})

test('a socket that is no monitor is refused: nothing there, noise, a path that is too long', async () => {
  await expect(Qmp.connect(file, systemClock)).rejects.toThrow(/No connection to QEMU's monitor .*ENOENT/)
  await expect(Qmp.connect(file, systemClock)).rejects.toThrow(LostMonitor)
  await expect(Qmp.connect(`/${'x'.repeat(200)}`, systemClock)).rejects.toThrow(/longer than the system's 107/)
  await monitor(() => undefined, 'noise\n')
  await expect(Qmp.connect(file, systemClock)).rejects.toThrow('QEMU closed its monitor connection')
})
