// The login of a node at the screens of a real QEMU, with each thing that one can ask for.
import { type ChildProcess, spawn } from 'node:child_process'
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { systemClock } from '../../../../src/lib/clock'
import { enterScreen } from '../../../../src/node/consoles/rfb'
import { withQmp } from '../../../../src/node/hypervisor/kvm/qmp'
import { qemuTest } from '../../../support/needs'

let directory: string
let qemu: ChildProcess | undefined

beforeEach(() => void (directory = fs.mkdtempSync(path.join(os.tmpdir(), 'gt-rfb-'))))
afterEach(async () => {
  const ended = qemu && new Promise((resolve) => qemu?.once('exit', resolve))
  qemu?.kill('SIGKILL')
  await ended
  fs.rmSync(directory, { recursive: true })
})

/** A machine that stands still, whose screen has these options. */
async function screen(options: string, ...more: string[]): Promise<string> {
  const [vnc, qmp] = [path.join(directory, 'vnc'), path.join(directory, 'qmp')]
  const words = ['-S', '-M', 'none', '-display', 'none', ...more, '-vnc', `unix:${vnc}${options}`]
  qemu = spawn('qemu-system-x86_64', [...words, '-qmp', `unix:${qmp},server=on,wait=off`], { stdio: 'inherit' })
  while (!fs.existsSync(qmp) || !fs.existsSync(vnc)) await new Promise((resolve) => setTimeout(resolve, 10))
  await withQmp(qmp, systemClock, async (monitor) => {
    if (options.includes('password')) await monitor.run('set_password', { protocol: 'vnc', password: 'secret12' })
  })
  return vnc
}

const login = (password: string) => ({
  password: () => Promise.resolve(password),
  certificate: () => Promise.resolve({}),
})

/** The first words of a screen that let us in: its size. */
async function size(vnc: string, password = 'secret12'): Promise<number[]> {
  const socket = net.connect(vnc)
  socket.on('error', () => undefined)
  try {
    const { line, said } = await enterScreen(socket, login(password))
    line.write(Buffer.from([1]))
    const first = await said.take(4)
    return [first.readUInt16BE(), first.readUInt16BE(2)]
  } finally {
    socket.destroy()
  }
}

const ANY_SIZE = [expect.any(Number), expect.any(Number)]
const ANONYMOUS = ['-object', 'tls-creds-anon,id=tls0,endpoint=server']

qemuTest('a screen that asks for nothing', async () => {
  expect(await size(await screen(''))).toEqual(ANY_SIZE)
})

qemuTest('a screen with a password, and the wrong one', async () => {
  const vnc = await screen(',password=on')
  expect(await size(vnc)).toEqual(ANY_SIZE)
  await expect(size(vnc, 'wrong')).rejects.toThrow('refused the login')
})

qemuTest('a screen with TLS without certificates, with and without a password', async () => {
  expect(await size(await screen(',tls-creds=tls0,password=on', ...ANONYMOUS))).toEqual(ANY_SIZE)
})
