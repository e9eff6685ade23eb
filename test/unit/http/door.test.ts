// A daemon that declares a door over HTTP, and the things that it gets for that: test/unit/http/double/ is one in small.
import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import * as path from 'node:path'
import { createConfig, lint } from '@redocly/openapi-core'
import { Agent, request } from 'undici'
import { WebSocket } from 'ws'
import { routesAndSpec } from '../../../scripts/generate'
import type { Route } from '../../../src/http/dispatch'
import type { Served } from '../../../src/http/serve'
import { systemClock } from '../../../src/lib/clock'
import { systemFiles } from '../../../src/lib/files'
import { openLog, silentLog } from '../../../src/lib/log'
import { systemRandom } from '../../../src/lib/random'
import { createCertificate } from '../../../src/lib/tls'
import { SteppedClock } from '../../support/stepped-clock'
import type { DoubleContext } from './double/context'
import { type DoubleOptions, LIMITS, startDouble, TOKEN } from './double/door'

const directory = fs.mkdtempSync(path.join(tmpdir(), 'gantry-door-'))
const certificate = path.join(directory, 'door.pem')
const file = path.join(directory, 'double.json')
const agent = new Agent({ connect: { rejectUnauthorized: false } })
const lines: WebSocket[] = []
let routes: readonly Route<DoubleContext>[]
let door: Served

/** As the entry of a door in tsoa.json. */
const DOCUMENT = {
  name: 'Double',
  description: 'A door in small.',
  controllerPathGlobs: ['test/unit/http/double/*.controller.ts'],
  context: { type: 'DoubleContext', file: 'test/unit/http/double/context' },
  securityDefinitions: { bearer: { type: 'http', scheme: 'bearer' } },
} as const

beforeAll(async () => {
  const generated = await routesAndSpec(DOCUMENT, directory)
  const table = path.join(directory, 'double-routes.ts')
  fs.writeFileSync(table, generated.routes)
  fs.writeFileSync(file, generated.spec)
  fs.writeFileSync(certificate, await createCertificate())
  routes = ((await import(table)) as { routes: typeof routes }).routes
})

afterEach(async () => {
  for (const line of lines.splice(0)) line.terminate()
  await door.close()
})

afterAll(async () => {
  await agent.close()
  fs.rmSync(directory, { recursive: true })
})

const GIVEN = { clock: systemClock, log: silentLog, random: systemRandom, files: systemFiles }

const start = async (more: Partial<DoubleOptions> = {}): Promise<void> => {
  door = await startDouble({ routes, file, addresses: ['127.0.0.1'], port: 0, ...GIVEN, ...more })
}

describe.each([
  ['TLS', 's', { certificate: { key: certificate, cert: certificate } }],
  ['plain sockets', '', {}],
])('over %s', (_name, secure, own) => {
  beforeEach(() => start(own))

  const url = (scheme: string, at: string): string => `${scheme}${secure}://127.0.0.1:${door.addresses[0]?.port}${at}`

  async function ask(
    method: 'GET' | 'POST',
    at: string,
    more: { token?: string; body?: unknown; headers?: object } = {},
  ) {
    const { token = TOKEN, body, headers } = more
    const text = body === undefined ? null : JSON.stringify(body)
    const type = text === null ? {} : { 'content-type': 'application/json' }
    const all = { authorization: token, ...type, ...headers }
    const answer = await request(url('http', at), { method, headers: all, body: text, dispatcher: agent })
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
  }

  function open(at: string, headers: object = {}, options: object = {}): WebSocket {
    const all = { authorization: TOKEN, ...headers }
    const line = new WebSocket(url('ws', at), { headers: all, rejectUnauthorized: false, ...options })
    // Each test waits for what it expects.
    lines.push(line.on('error', () => undefined))
    return line
  }

  test('requests reach the controllers of its table', async () => {
    const got = await ask('GET', '/1/notes/a%2Fb?loud=1')
    expect([got.status, JSON.parse(got.text)]).toEqual([200, { name: 'a/b', text: 'A NOTE OF SOMEBODY' }])
    const note = { name: 'n', text: 't' }
    const made = await ask('POST', '/1/notes', { body: note })
    expect([made.status, made.headers['location'], JSON.parse(made.text)]).toEqual([201, '/1/notes/n', note])
  })

  test.each([
    ['who is nobody', 401, 'GET', '/1/notes/n', { token: 'Bearer of another' }],
    ['what is not there', 404, 'GET', '/1/no', {}],
    ['a method that is not there', 405, 'POST', '/1/notes/n', {}],
    ['an argument that is not there', 400, 'GET', '/1/notes/n?x=1', {}],
    ['a body that is too long', 413, 'POST', '/1/notes', { body: 'x'.repeat(LIMITS.body_bytes) }],
    ['a page of another site', 403, 'POST', '/1/notes', { body: {}, headers: { origin: 'https://elsewhere' } }],
    ['a plain request for a websocket', 426, 'GET', '/1/echo/you', {}],
  ] as const)('%s is refused with %s', async (_what, status, method, at, more) => {
    const answer = await ask(method, at, more)
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/problem+json'])
    expect(JSON.parse(answer.text)).toEqual(expect.objectContaining({ status, type: 'about:blank' }))
  })

  test('the documentation shows its own document', async () => {
    expect((await ask('GET', '/docs/')).text).toContain('<title>Double</title>')
    expect(JSON.parse((await ask('GET', '/docs/openapi.json')).text)).toEqual(JSON.parse(fs.readFileSync(file, 'utf8')))
  })

  test('a websocket carries texts as texts and bytes as bytes', async () => {
    const line = open('/1/echo/you')
    const received = messagesOf(line, 3)
    line.on('open', () => {
      line.send('text')
      line.send(Buffer.from([0, 255]))
    })
    expect(await received).toEqual(['you, somebody', 'text', Buffer.from([0, 255])])
  })

  test.each([
    ['who is nobody', 401, '/1/echo/you', { authorization: '' }],
    ['a page of another site', 403, '/1/echo/you', { origin: 'https://elsewhere' }],
    ['what is not there', 404, '/1/no', {}],
    ['what the controller refuses', 404, '/1/echo/nobody', {}],
    ['what is no websocket', 400, '/1/notes/n', {}],
  ])('%s gets no websocket, and is told so with %s', async (_what, status, at, headers) => {
    const line = open(at, headers)
    const answer = await new Promise<{ statusCode?: number; headers: object }>((resolve) =>
      line.once('unexpected-response', (_request, response) => resolve(response)),
    )
    const type = expect.objectContaining({ 'content-type': 'application/problem+json', connection: 'close' })
    expect([answer.statusCode, answer.headers]).toEqual([status, type])
  })

  test('a message that is too long ends its websocket', async () => {
    const line = open('/1/echo/you')
    line.on('open', () => line.send('x'.repeat(LIMITS.message_bytes + 1)))
    expect(await closed(line)).toBe(1009)
  })

  test('a client that asks for another protocol gets the answer of a plain request', async () => {
    const headers = { connection: 'upgrade', upgrade: 'h2c' }
    const answer = await new Promise<string>((resolve, reject) => {
      const sent = open('/1/notes/n', {}, { finishRequest: (plain: PlainRequest) => send(plain, headers) })
      sent.once('unexpected-response', (_request, response) => {
        response.setEncoding('utf8').on('data', resolve).on('error', reject)
      })
    })
    expect(JSON.parse(answer)).toEqual({ name: 'n', text: 'a note of somebody' })
  })

  test('when it closes, it tells those on websockets', async () => {
    const line = open('/1/echo/you')
    await messagesOf(line, 1)
    const left = closed(line)
    await door.close()
    expect(await left).toBe(1001)
  })
})

describe('a websocket', () => {
  const at = (name: string, options: object = {}): WebSocket => {
    const url = `ws://127.0.0.1:${door.addresses[0]?.port}/1/echo/${name}`
    const line = new WebSocket(url, { headers: { authorization: TOKEN }, ...options })
    lines.push(line)
    return line
  }

  test('is ended when its client answers no ping', async () => {
    const clock = new SteppedClock()
    await start({ clock })
    const [here, away] = [at('here'), at('away', { autoPong: false })]
    await Promise.all([messagesOf(here, 1), messagesOf(away, 1)])
    const pinged = Promise.all([here, away].map((line) => new Promise((resolve) => line.once('ping', resolve))))
    await clock.pass(LIMITS.ping_s)
    await pinged
    // The text that comes back was sent behind the answer to the ping.
    here.send('still')
    await messagesOf(here, 1)
    const left = closed(away)
    await clock.pass(LIMITS.ping_s)
    expect([await left, here.readyState]).toEqual([1006, WebSocket.OPEN])
  })

  test.each([
    ['says goodbye', (line: WebSocket) => line.close()],
    ['leaves', (line: WebSocket) => line.terminate()],
    ['says too much', (line: WebSocket) => line.send('x'.repeat(LIMITS.message_bytes + 1))],
  ])('has its line in the log when its client %s, which is no defect', async (_how, leave) => {
    const logged = await logFrom(async () => {
      const line = at('you')
      await messagesOf(line, 1)
      leave(line)
      await closed(line)
    })
    expect(logged).toEqual([
      expect.objectContaining({ method: 'GET', path: '/1/echo/you', status: 101, msg: 'request' }),
    ])
    expect(logged[0]).not.toHaveProperty('cut')
  })

  test('whose talk fails is closed, and the log says why', async () => {
    const logged = await logFrom(async () => expect(await closed(at('broken'))).toBe(1011))
    const [failed] = logged.filter(({ msg }) => msg !== 'request')
    expect(failed).toMatchObject({ err: { message: 'a defect' }, msg: 'a websocket failed because of a defect' })
  })

  test('that is asked for while the door closes does not hold it up', async () => {
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    let line: WebSocket | undefined
    await new Promise<void>((requested) => {
      const wait = () => {
        requested()
        return gate
      }
      void start({ gate: wait }).then(() => (line = at('you').on('error', () => undefined)))
    })
    const done = door.close()
    open()
    await done
    expect(line?.readyState).not.toBe(WebSocket.OPEN)
  })

  /** The lines of the log until a request has ended. */
  async function logFrom(act: () => Promise<void>): Promise<Record<string, unknown>[]> {
    const written: Record<string, unknown>[] = []
    const log = openLog({ write: (line) => void written.push(JSON.parse(line)) })
    await start({ accessLog: 'changes', log })
    await act()
    while (!written.some(({ msg }) => msg === 'request')) await new Promise((resolve) => setImmediate(resolve))
    return written
  }
})

test('a strict linter has nothing to say about its document', async () => {
  await start()
  const config = await createConfig({ extends: ['recommended-strict'] })
  const problems = await lint({ ref: file, config })
  expect(problems.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer])).toEqual([])
})

interface PlainRequest {
  setHeader(name: string, value: string): void
  end(): void
}

function send(plain: PlainRequest, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) plain.setHeader(name, value)
  plain.end()
}

/** The next messages: texts, or bytes. */
function messagesOf(line: WebSocket, count: number): Promise<(string | Buffer)[]> {
  const received: (string | Buffer)[] = []
  return new Promise((resolve, reject) => {
    line.on('error', reject)
    line.on('message', (data, isBinary) => {
      if (Buffer.isBuffer(data)) received.push(isBinary ? data : data.toString())
      if (received.length === count) resolve(received)
    })
  })
}

/** With which code. */
const closed = (line: WebSocket): Promise<number> => new Promise((resolve) => line.once('close', resolve))
