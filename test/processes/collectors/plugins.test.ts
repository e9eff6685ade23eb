// Plugins of the administrator are read, started and bounded by mond without trusting them more than root does.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { Plugins } from '../../../src/collectors/plugins'
import { systemClock } from '../../../src/lib/clock'
import { thisMachine } from '../../../src/lib/machine'
import { eventually } from '../../unit/daemons/wconfd/support'
import { PLUGIN_S } from '../../../src/model/limits/collectors'

let folder = ''
/** Closed after each test. */
const servers: net.Server[] = []
afterEach(() => servers.splice(0).forEach((server) => server.close()))
const silence = (file: string) =>
  new Promise<void>((resolve) => servers.push(net.createServer((socket) => socket.unref()).listen(file, resolve)))

/** What has ended and waits for its parent to notice does not count. */
function isRunning(pid: string): boolean {
  try {
    return fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[2] !== 'Z'
  } catch {
    return false
  }
}
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-plugins-'))
  fs.chmodSync(folder, 0o755)
})
afterEach(() => fs.rmSync(folder, { recursive: true }))

const write = (name: string, text: string, mode = 0o644) => {
  fs.writeFileSync(path.join(folder, name), text)
  fs.chmodSync(path.join(folder, name), mode)
}

const plugins = (uid = process.geteuid?.() ?? 0) => new Plugins({ ...thisMachine, folder, clock: systemClock, uid })

/** The output of each, or why there is none. */
async function reported(found = plugins(), taken: readonly string[] = []): Promise<Record<string, unknown>> {
  const all = await found.find(taken)
  const said = all.map(async ({ name, category, open }) => {
    const data = await open().collect().catch((error: unknown) => (error instanceof Error ? error.message : error)) // prettier-ignore
    return [`${category ?? 'default'}/${name}`, data] as const
  })
  return Object.fromEntries(await Promise.all(said))
}

test('a folder that is not there has no plugins', async () => {
  fs.rmdirSync(folder)
  expect(await reported()).toEqual({})
  fs.mkdirSync(folder)
})

test('programs, texts and JSON are told as they are, under the names of their files', async () => {
  write('storage.raid', '#!/bin/sh\necho \'{"disks": 2}\'\n', 0o755)
  write('room', '#!/bin/sh\necho warm\n', 0o755)
  write('node.rack.json', '{"rack": 7}')
  write('note.txt', 'some text\n')
  write('.hidden', 'x')
  write('old.txt~', 'x')
  expect(await reported()).toEqual({
    'storage/raid': { disks: 2 },
    'default/room': { text: 'warm' },
    'node/rack': { rack: 7 },
    'default/note': { text: 'some text' },
  })
})

test('sockets of this machine are read to their end', async () => {
  const local = net.createServer((socket) => socket.end('{"from": "local"}')).listen(path.join(folder, 'local'))
  const tcp = net.createServer((socket) => socket.end('{"from": "tcp"}')).listen(0, '127.0.0.1')
  await Promise.all([local, tcp].map((server) => new Promise((resolve) => server.once('listening', resolve))))
  write('other.tcp', `127.0.0.1:${(tcp.address() as net.AddressInfo).port}\n`)
  write('far.tcp', '192.0.2.1:80\n')
  write('gone.tcp', '127.0.0.1:1\n')
  expect(await reported()).toEqual({
    'default/local': { from: 'local' },
    'default/other': { from: 'tcp' },
    'default/far': 'it does not name an address of this machine, such as 127.0.0.1:9000',
    'default/gone': expect.stringContaining('it cannot be asked'),
  })
  local.close()
  tcp.close()
})

test('a plugin that others may change, or a link that leads elsewhere, is not read or started', async () => {
  write('open.txt', 'x', 0o666)
  write('target', 'x')
  fs.symlinkSync('target', path.join(folder, 'link.txt'))
  fs.mkdirSync(path.join(folder, 'directory'))
  const found = await reported()
  expect(found['default/open']).toContain('can be written by others than its owner')
  expect(found['default/link']).toContain('is a link')
  expect(found['default/directory']).toContain('is neither a file nor a socket')
  fs.chmodSync(folder, 0o777)
  expect((await reported())['default/target']).toContain(`${folder} can be written by others`)
})

test('a plugin that belongs to another user is not read', async () => {
  write('mine.txt', 'x')
  const own = process.geteuid?.() ?? 0
  // Root may have plugins for everybody.
  const other = own === 0 ? 12345 : own
  if (own === 0) fs.chownSync(path.join(folder, 'mine.txt'), other, other)
  expect((await reported(plugins(other + 1)))['default/mine']).toContain('belongs to another user')
})

test.each([
  ['fails', '#!/bin/sh\necho why >&2\nexit 3\n', 'it ended with 3: why'],
  ['talks', '#!/bin/sh\nexec yes\n', 'it printed more than 1048576 bytes'],
  ['lies', '#!/bin/sh\necho "{nonsense"\n', 'it is no JSON'],
])('a program that %s is reported so', async (name, text, why) => {
  write(name, text, 0o755)
  expect((await reported())[`default/${name}`]).toContain(why)
})

test('one that does not end is given up, with all that it has started, and the others are told meanwhile', async () => {
  write('hangs', '#!/bin/sh\nsleep 1000 &\necho $! > "$0.child"\nwait\n', 0o755)
  write('good', '#!/bin/sh\necho here\n', 0o755)
  await silence(path.join(folder, 'silent'))
  // Ends what hangs when the others have had their say.
  let giveUp: () => void = () => undefined
  const late = new Promise<void>((resolve) => (giveUp = resolve))
  const limits: (number | undefined)[] = []
  const all = new Plugins({
    ...{ ...thisMachine, folder, uid: process.geteuid?.() ?? 0 },
    clock: {
      ...systemClock,
      after: (wait_ms, action) => (limits.push(wait_ms / 1000), void late.then(action), { cancel: () => undefined }),
    },
    async run(command, options) {
      limits.push(options?.timeout_s)
      const input = command[0]?.endsWith('hangs') === true ? { ...options, timeout_s: 0.5 } : options
      return thisMachine.run(command, input)
    },
  })
  const requested = reported(all)
  const good = (await all.find([])).find(({ name }) => name === 'good')
  expect(await good?.open().collect()).toEqual({ text: 'here' })
  giveUp()
  expect(await requested).toMatchObject({
    ...{
      'default/hangs': `it did not end within ${PLUGIN_S} s`,
      'default/silent': `it did not end within ${PLUGIN_S} s`,
    },
    'default/good': { text: 'here' },
  })
  expect(new Set(limits)).toEqual(new Set([PLUGIN_S]))
  const child = fs.readFileSync(path.join(folder, 'hangs.child'), 'utf8').trim()
  await eventually(() => expect(isRunning(child)).toBe(false))
})

test.each([
  ['deep.json', '['.repeat(60) + ']'.repeat(60), 'its JSON is nested deeper than 50 levels'],
  ['many.json', `[${'1,'.repeat(200_000)}1]`, 'its JSON has more than 100000 values'],
  ['long.txt', 'x'.repeat((1 << 20) + 1), 'it has more than 1048576 bytes'],
])('a file that is too much is refused: %s', async (name, text, why) => {
  write(name, text)
  expect(Object.values(await reported())).toEqual([why])
})

test('a plugin cannot take the name of what is built in, nor of another plugin', async () => {
  write('drbd.json', '{}')
  write('mine.json', '{"a":1}')
  write('mine.txt', 'b')
  expect(await reported(plugins(), ['drbd'])).toEqual({
    'default/drbd-json-plugin': 'another collector has the name of drbd.json: call it otherwise',
    'default/mine': { a: 1 },
    'default/mine-txt-plugin': 'another collector has the name of mine.txt: call it otherwise',
  })
})

test('a plugin that stays is the same object, so that it goes on', async () => {
  write('a.json', '{}')
  const found = plugins()
  const [first] = await found.find([])
  write('b.json', '{}')
  expect((await found.find([]))[0]).toBe(first)
})
