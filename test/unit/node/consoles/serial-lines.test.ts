// Serial lines that several viewers share, over Unix sockets of this process.
import * as fs from 'node:fs'
import * as net from 'node:net'
import * as os from 'node:os'
import * as path from 'node:path'
import { SerialLines, type SerialViewer } from '../../../../src/node/consoles/serial-lines'

let folder: string
const servers: net.Server[] = []
beforeEach(() => (folder = fs.mkdtempSync(path.join(os.tmpdir(), 'serial-'))))
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve))
  fs.rmSync(folder, { recursive: true })
})

/** An instance that listens there, and its end of each connection. */
async function instance() {
  const socket = path.join(folder, 'serial')
  const ends: net.Socket[] = []
  const received: Buffer[] = []
  const server = net.createServer((end) => void ends.push(end.on('data', (keys) => received.push(keys))))
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  return { socket, ends, heard: received }
}

function viewer({ room = true } = {}) {
  const displayed: string[] = []
  const waiting: (() => void)[] = []
  const state = { room }
  const watching: SerialViewer = {
    show: (said) => (displayed.push(said.toString()), state.room),
    onRoom: (callback) => void waiting.push(callback),
  }
  return {
    ...{ watching, shown: displayed, state },
    makeRoom: () => waiting.splice(0).forEach((callback) => callback()),
  }
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

test('viewers share one connection: each sees all output, and each may type', async () => {
  const { socket, ends, heard: received } = await instance()
  const lines = new SerialLines()
  const [one, other] = [viewer(), viewer()]
  const [first, second] = await Promise.all([
    lines.join('vm1', socket, one.watching, undefined),
    lines.join('vm1', socket, other.watching, undefined),
  ])
  await until(() => ends.length === 1)
  ends[0]?.write('login: ')
  await until(() => one.shown.length > 0 && other.shown.length > 0)
  expect([one.shown, other.shown]).toEqual([['login: '], ['login: ']])
  await first.type(Buffer.from('a'))
  await second.type(Buffer.from('b'))
  await until(() => Buffer.concat(received).length === 2)
  expect([Buffer.concat(received).toString(), ends.length]).toEqual(['ab', 1])
  first.leave()
  expect(lines.has('vm1')).toBe(true)
  second.leave()
  await until(() => !lines.has('vm1'))
})

test('who comes later is shown what was said before, or only what follows what it has seen', async () => {
  const { socket, ends } = await instance()
  const lines = new SerialLines()
  const first = viewer()
  const joined = await lines.join('vm1', socket, first.watching, 0)
  await until(() => ends.length === 1)
  ends[0]?.write('one ')
  await until(() => joined.seen() === 4)
  const [whole, rest, none] = [viewer(), viewer(), viewer()]
  await lines.join('vm1', socket, whole.watching, 0)
  await lines.join('vm1', socket, rest.watching, 2)
  const last = await lines.join('vm1', socket, none.watching, undefined)
  ends[0]?.write('two')
  await until(() => last.seen() === 7)
  expect([whole.shown.join(''), rest.shown.join(''), none.shown.join('')]).toEqual(['one two', 'e two', 'two'])
  ends[0]?.destroy()
  await last.ended
})

test('a viewer without room is shown nothing more until it has some, and holds up no other', async () => {
  const { socket, ends } = await instance()
  const lines = new SerialLines()
  const [slow, quick] = [viewer({ room: false }), viewer()]
  const late = await lines.join('vm1', socket, slow.watching, undefined)
  const joined = await lines.join('vm1', socket, quick.watching, undefined)
  await until(() => ends.length === 1)
  for (const [at, said] of ['a', 'b', 'c'].entries()) {
    ends[0]?.write(said)
    await until(() => joined.seen() === at + 1)
  }
  expect([slow.shown, quick.shown]).toEqual([['a'], ['a', 'b', 'c']])
  slow.state.room = true
  slow.makeRoom()
  expect(slow.shown).toEqual(['a', 'bc'])
  late.leave()
  joined.leave()
})

test('a line that nobody listens on is refused, and may be tried again', async () => {
  const lines = new SerialLines()
  const socket = path.join(folder, 'serial')
  await expect(lines.join('vm1', socket, viewer().watching, 0)).rejects.toMatchObject({ code: 'ENOENT' })
  expect(lines.has('vm1')).toBe(false)
  const there = await instance()
  const joined = await lines.join('vm1', there.socket, viewer().watching, 0)
  joined.leave()
})
