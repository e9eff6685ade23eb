// The text of an answer is handed on unread.
import { mkdtempSync, rmSync } from 'node:fs'
import * as net from 'node:net'
import { tmpdir } from 'node:os'
import * as path from 'node:path'
import { systemClock } from '../../../src/lib/clock'
import { PeerError } from '../../../src/rpc/json-protocol'
import { callForText } from '../../../src/rpc/text-call'

const directory = mkdtempSync(path.join(tmpdir(), 'gantry-text-'))
const options = { path: path.join(directory, 'socket'), peer: 'the master', clock: systemClock }
let server: net.Server | undefined

afterEach(() => new Promise((resolve) => (server === undefined ? resolve(null) : server.close(resolve))))
afterAll(() => rmSync(directory, { recursive: true }))

/** Answers each call with these pieces, then hangs up. */
async function serve(...pieces: string[]): Promise<void> {
  server = net.createServer((socket) => {
    socket
      .on('error', () => undefined)
      .once('data', () => {
        const send = (at: number): void => {
          const piece = pieces[at]
          if (piece === undefined) return void socket.end()
          socket.write(piece, () => setImmediate(send, at + 1))
        }
        send(0)
      })
  })
  await new Promise<void>((resolve) => server?.listen(options.path, resolve))
}

async function textOf(): Promise<string> {
  const { pieces } = await callForText(options, 'QueryNodes', [[], ['name'], false], 60)
  let text = ''
  for await (const piece of pieces) text += piece.toString()
  return text
}

test.each([
  [['{"success":true,"result":["é",1]}\x03']],
  [['{"succ', 'ess":true,"result":', '["é",', '1]', '}', '\x03']],
  [['{"success":true,"result":["é",1]', '}\x03']],
])('the bytes of the result are handed on, and nothing around it: %j', async (pieces) => {
  await serve(...pieces)
  expect(await textOf()).toBe('["é",1]')
})

test('an error is told before any text', async () => {
  await serve('{"success":false,"result":["OpPrereqError",["no such', ' field","wrong_input"]]}', '\x03')
  await expect(textOf()).rejects.toThrow('no such field')
})

test.each([['no JSON\x03'], ['{"success":true}\x03']])(
  'an answer that is not one of LUXI is refused: %j',
  async (answer) => {
    await serve(answer)
    await expect(textOf()).rejects.toThrow(/^the answer to QueryNodes is/)
  },
)

test('a text that is cut off fails where it ends', async () => {
  await serve('{"success":true,"result":["a",', '"b"')
  await expect(textOf()).rejects.toThrow(PeerError)
})

test('a master that is not there is named', async () => {
  server = undefined
  await expect(textOf()).rejects.toThrow(`cannot reach the master at ${options.path}: it is not running here`)
})

test('a reader that stops early closes the connection', async () => {
  const gone = new Promise((resolve) => {
    server = net.createServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('close', resolve)
        .resume()
      // Much more than is read at once, and no end.
      socket.write(`{"success":true,"result":["${'x'.repeat(1 << 20)}`)
    })
  })
  await new Promise<void>((resolve) => server?.listen(options.path, resolve))
  const { pieces } = await callForText(options, 'QueryNodes', [], 60)
  for await (const piece of pieces) {
    expect(piece.toString()).toMatch(/^\["x/)
    break
  }
  await gone
})
