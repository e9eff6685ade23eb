// Calls over a Unix socket, from both ends.
import * as fs from 'node:fs'
import * as os from 'node:os'
import * as path from 'node:path'
import * as net from 'node:net'
import { systemClock } from '../../../src/lib/clock'
import type { FramedServer } from '../../../src/lib/net/json-socket'
import { silentLog } from '../../../src/lib/log'
import { OpPrereqError } from '../../../src/model/errors'
import { ANSWERED, JsonClient, serveCalls, type CallServerOptions } from '../../../src/rpc/json-protocol'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'gantry-calls-'))
const socketPath = `${folder}/s`
let server: FramedServer | undefined
let client: JsonClient

const serve = async (extra: Partial<CallServerOptions> = {}) => {
  server = await serveCalls(
    { path: socketPath, maxFrame: 4096, log: silentLog, ...extra },
    {
      double: (args) => (Array.isArray(args) ? args.concat(args) : args),
      refuse: () => {
        throw new OpPrereqError('no such thing', 'unknown_entity')
      },
      crash: async () => {
        await Promise.resolve()
        throw new TypeError('secret detail')
      },
      never: () => new Promise(() => undefined),
      nothing: () => undefined,
      own: (_, connection) => {
        connection.send('{"success":true,"result":"by hand"}')
        return ANSWERED
      },
    },
  )
}

beforeEach(async () => {
  await serve()
  client = new JsonClient({ clock: systemClock, path: socketPath, peer: 'the test daemon', connectTimeout_s: 1 })
})

afterEach(async () => {
  client.close()
  await server?.close()
})

afterAll(() => fs.rmSync(folder, { recursive: true }))

/** Answers with all that the server says until it closes the connection, or until it has given so many answers. */
function raw(bytes: string | Buffer, answers = Infinity): Promise<{ text: string; closed: boolean }> {
  return new Promise((resolve) => {
    const socket = net.connect(socketPath)
    let text = ''
    const finish = (closed: boolean) => {
      socket.destroy()
      resolve({ text, closed })
    }
    socket.on('data', (data) => {
      text += data.toString()
      if (text.split('\x03').length > answers) finish(false)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => finish(true))
    socket.write(bytes)
  })
}

test('a call is answered, and calls that overlap get their own answers', async () => {
  await expect(client.call('double', [1], 1)).resolves.toEqual([1, 1])
  const many = await Promise.all([1, 2, 3].map((n) => client.call('double', [n], 1)))
  expect(many).toEqual([
    [1, 1],
    [2, 2],
    [3, 3],
  ])
  await expect(client.call('nothing', [], 1)).resolves.toBeNull()
  await expect(client.call('own', [], 1)).resolves.toBe('by hand')
})

test('an answer with the same text as the last one is the same object, and a new text is read anew', async () => {
  const remembered = {}
  const first = await client.call('double', [1], null, remembered)
  expect(await client.call('double', [1], null, remembered)).toBe(first)
  expect(await client.call('double', [2], null, remembered)).toEqual([2, 2])
  expect(Object.isFrozen(first)).toBe(true)
})

test('errors keep their class and arguments', async () => {
  const error: unknown = await client.call('refuse', [], 1).catch((e: unknown) => e)
  expect(error).toBeInstanceOf(OpPrereqError)
  expect(error).toMatchObject({ args: ['no such thing', 'unknown_entity'] })
})

test('a defect is answered without its details, and the connection lives', async () => {
  const error: unknown = await client.call('crash', [], 1).catch((e: unknown) => e)
  expect(String(error)).toContain('Internal error in crash')
  expect(JSON.stringify(error)).not.toContain('secret')
  await expect(client.call('double', [], 1)).resolves.toEqual([])
})

test.each(['nosuch', 'constructor', '__proto__', 'toString'])(
  'the unknown method %s is a GenericError',
  async (name) => {
    await expect(client.call(name, [], 1)).rejects.toThrow(`No such method: ${name}`)
  },
)

test.each([
  ['{', 'Failed to parse request: '],
  ['[]', 'Failed to parse request: not a JSON object'],
  ['{"method":1,"args":[]}', "Failed to parse request: key 'method' is missing"],
  ['{"method":"double"}', "Failed to parse request: key 'args' is missing"],
])('%s is refused and the connection closed', async (text, reason) => {
  const { text: answer, closed } = await raw(`${text}\x03`)
  expect(answer).toContain('{"success":false,"result":"')
  expect(JSON.parse(answer.slice(0, -1)).result).toContain(reason)
  expect(closed).toBe(true)
})

test('how text that is no call is answered can be another way', async () => {
  await server?.close()
  await serve({ onUnparsable: (reason) => ({ result: { reason }, close: false }) })
  const { text, closed } = await raw('nonsense\x03{"method":"double","args":[]}\x03', 2)
  expect(text.split('\x03')).toEqual([expect.stringContaining('reason'), '{"success":true,"result":[]}', ''])
  expect(closed).toBe(false)
})

test('a message without end is refused when it is too long', async () => {
  const { text, closed } = await raw(Buffer.alloc(5000, 'x'))
  expect(text).toContain('message longer than 4096 bytes')
  expect(closed).toBe(true)
})

test('a call that is not answered in time fails with the name of the peer, and the next one works', async () => {
  await expect(client.call('never', [], 0.05)).rejects.toMatchObject({
    kind: 'timeout',
    message: `the test daemon at ${socketPath} did not answer never in 0.05 s`,
  })
  await expect(client.call('double', [], 1)).resolves.toEqual([])
})

test('a lost connection fails the calls that wait, and the next call connects anew', async () => {
  const waiting = client.call('never', [], null)
  await client.call('double', [], 0.05).catch(() => undefined)
  await server?.close()
  await expect(waiting).rejects.toMatchObject({ kind: expect.stringMatching('lost|timeout') })
  await expect(client.call('double', [], 1)).rejects.toMatchObject({
    kind: 'unreachable',
    message: `cannot reach the test daemon at ${socketPath}: it is not running here (is this the master node?)`,
  })
  await serve()
  await expect(client.call('double', [5], 1)).resolves.toEqual([5, 5])
})

test('an answer that has come while this process was stopped counts, although its time is over', async () => {
  let timeIsOver = () => {}
  const clock = { ...systemClock, after: (_: number, action: () => void) => ((timeIsOver = action), { cancel() {} }) }
  await server?.close()
  server = await serveCalls({ path: socketPath, maxFrame: 4096, log: silentLog }, {
    late: (_, connection) => {
      connection.send('{"success":true,"result":"there"}')
      timeIsOver()
      return ANSWERED
    },
  }) // prettier-ignore
  const stopped = new JsonClient({ path: socketPath, peer: 'the test daemon', clock })
  expect(await stopped.call('late', [], 10)).toBe('there')
  stopped.close()
})
