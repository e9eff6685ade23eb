// Tickets and websockets of consoles, at a door with a master that has one instance.
import { once } from 'node:events'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { WebSocket } from 'ws'
import { ConsoleTickets } from '../../../../src/daemons/rapi/v3/console-tickets'
import { systemRandom } from '../../../../src/lib/random'
import { OpPrereqError, REFUSED } from '../../../../src/model/errors'
import {
  CONSOLE_CHECK_S,
  CONSOLE_TICKET_S,
  CONSOLE_TICKETS_PER_USER_MAX,
  CONSOLES_PER_USER_MAX,
} from '../../../../src/model/limits/consoles'
import { SESSION_IDLE_S } from '../../../../src/model/limits/logins'
import type { ConsoleRequest } from '../../../../src/rpc/luxi/consoles'
import type { Identity } from '../../../../src/rpc/luxi/gantry'
import type { Master } from '../../../../src/rpc/luxi/master'
import { SteppedClock } from '../../../support/stepped-clock'
import { basic, Harness, RecordedMaster } from './harness'

const ADMIN = basic('admin', 'secret')
const READER = basic('reader', 'foo555')
const anna: Identity = { user: 'anna', token: null, permissions: ['*'] }
const request: ConsoleRequest = { instance: 'vm1', kind: 'serial', read_only: false }
const random = systemRandom

describe('a ticket', () => {
  let clock: SteppedClock
  let tickets: ConsoleTickets
  const use = (identity: Identity, instance: string, ticket: string) => () => tickets.use(identity, instance, ticket)

  beforeEach(() => {
    clock = new SteppedClock()
    tickets = new ConsoleTickets({ clock, random })
  })

  test('is good once', () => {
    const ticket = tickets.issue(anna, request)
    expect(tickets.use(anna, 'vm1', ticket)).toEqual(request)
    expect(use(anna, 'vm1', ticket)).toThrow('The ticket is not valid')
  })

  test('is good for who asked for it, and spent when somebody else shows it', () => {
    const ticket = tickets.issue(anna, request)
    expect(use({ ...anna, user: 'ben' }, 'vm1', ticket)).toThrow('The ticket is not valid')
    expect(use(anna, 'vm1', ticket)).toThrow('The ticket is not valid')
    expect(use({ ...anna, token: 't1' }, 'vm1', tickets.issue(anna, request))).toThrow('The ticket is not valid')
  })

  test('is good for one instance', () => {
    expect(use(anna, 'vm2', tickets.issue(anna, request))).toThrow('The ticket is not valid')
  })

  test('ends with its time, and then makes room for others', async () => {
    const all = Array.from({ length: CONSOLE_TICKETS_PER_USER_MAX }, () => tickets.issue(anna, request))
    expect(() => tickets.issue(anna, request)).toThrow(`${CONSOLE_TICKETS_PER_USER_MAX} tickets`)
    expect(() => tickets.issue({ ...anna, user: 'ben' }, request)).not.toThrow()
    await clock.pass(CONSOLE_TICKET_S)
    expect(use(anna, 'vm1', all[0] ?? '')).toThrow('The ticket is not valid')
    expect(() => tickets.issue(anna, request)).not.toThrow()
  })
})

describe('the websocket of a console', () => {
  const choices = { instance: 'vm1', node: 'node1', kinds: ['serial'], spice: null }
  const gantry = {
    identify: (secret: string) =>
      Promise.resolve(secret === good ? { id: 't1', user: 'reader', permissions: ['*'] } : null),
    rights: () => Promise.resolve({ permissions: [], scope: null, beyond_scope: [], empty_kinds: [] }),
    consoles(_identity: Identity, name: string) {
      if (name === 'hidden') throw new OpPrereqError('outside the scope of the token', REFUSED.forbidden)
      return Promise.resolve({ ...choices, instance: name, kinds: name === 'both' ? ['serial', 'vnc'] : ['serial'] })
    },
    // It says again what it hears.
    console: (_identity: Identity, requested: ConsoleRequest) =>
      Promise.resolve(async (messages: Duplex) => {
        opened.push(requested)
        messages.write('{"type":"connected","stream":"1.1","node":"node1"}')
        await pipeline(messages, messages)
      }),
  }
  const opened: ConsoleRequest[] = []
  let good = 'of-t1'
  let clock: SteppedClock
  let harness: Harness

  beforeAll(async () => {
    clock = new SteppedClock()
    harness = await Harness.start(Object.assign(new RecordedMaster(), { gantry }) as unknown as Master, { clock })
  })
  afterAll(() => harness.stop())

  async function ask(authorization: string, name: string, body: unknown = { kind: 'serial' }, more: string[] = []) {
    const text = JSON.stringify(body)
    const lines = [`POST /3/instances/${name}/console-tickets HTTP/1.1`, 'Host: x', 'Connection: close']
    const headers = [
      ...(authorization === '' ? more : [`Authorization: ${authorization}`]),
      'Content-Type: application/json',
      `Content-Length: ${text.length}`,
    ]
    const answer = await harness.raw([...lines, ...headers, '', text].join('\r\n'))
    return { status: answer.status, body: JSON.parse(answer.body) as Record<string, string> }
  }

  function connect(authorization: string, address: string, headers: Record<string, string> = {}): WebSocket {
    const port = harness.rapi.addresses[0]?.port
    const login = authorization === '' ? {} : { Authorization: authorization }
    const options = { rejectUnauthorized: false, headers: { ...login, ...headers } }
    return new WebSocket(`wss://127.0.0.1:${port}${address}`, options)
  }

  /** The status with which it is refused. */
  function refused(socket: WebSocket): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      socket.once('unexpected-response', (_request, response) => {
        resolve(response.statusCode)
        socket.terminate()
      })
      socket.on('error', () => undefined).once('open', () => reject(new Error('it was opened')))
    })
  }

  async function open(authorization = ADMIN): Promise<WebSocket> {
    const { body } = await ask(authorization, 'vm1')
    const socket = connect(authorization, String(body['path']))
    const [hello] = (await once(socket, 'message')) as [Buffer]
    expect(JSON.parse(hello.toString())).toMatchObject({ type: 'connected' })
    return socket
  }

  test('brings what is said both ways, as the ticket was asked for', async () => {
    const { status, body } = await ask(ADMIN, 'vm1', { kind: 'serial', read_only: true })
    expect([status, body['expires_s']]).toEqual([201, CONSOLE_TICKET_S])
    const socket = connect(ADMIN, String(body['path']))
    await once(socket, 'message')
    expect(opened.at(-1)).toEqual({ instance: 'vm1', kind: 'serial', read_only: true })
    socket.send(Buffer.from('ls'))
    const [said, isBinary] = (await once(socket, 'message')) as [Buffer, boolean]
    expect([said.toString(), isBinary]).toEqual(['ls', true])
    socket.close()
    await once(socket, 'close')
  })

  test('is refused without a ticket, with one that was used, and with that of another user or instance', async () => {
    expect(await refused(connect(ADMIN, '/3/instances/vm1/console'))).toBe(403)
    const { body } = await ask(ADMIN, 'vm1')
    expect(await refused(connect(READER, String(body['path'])))).toBe(403)
    const { body: second } = await ask(ADMIN, 'vm1')
    expect(await refused(connect(ADMIN, String(second['path']).replace('vm1', 'vm2')))).toBe(403)
    const { body: third } = await ask(ADMIN, 'vm1')
    const socket = connect(ADMIN, String(third['path']))
    await once(socket, 'message')
    expect(await refused(connect(ADMIN, String(third['path'])))).toBe(403)
    socket.close()
  })

  test('is refused to a page of another site, which browsers let open websockets to anybody', async () => {
    const { body } = await ask(ADMIN, 'vm1')
    expect(await refused(connect(ADMIN, String(body['path']), { Origin: 'https://evil.example' }))).toBe(403)
  })

  test('is refused without a login, and there is no ticket for what is outside a scope or not there', async () => {
    const { body } = await ask(ADMIN, 'vm1')
    expect(await refused(connect('Basic bm9ib2R5Om5v', String(body['path'])))).toBe(401)
    expect((await ask(ADMIN, 'hidden')).status).toBe(403)
    expect((await ask(ADMIN, 'vm1', { kind: 'vnc' })).body).toMatchObject({
      status: 400,
      detail: expect.stringContaining('vnc_bind_address'),
    })
    expect((await ask(ADMIN, 'vm1', { kind: 'telnet' })).status).toBe(400)
    expect((await ask(ADMIN, 'vm1', { kind: 'serial', more: 1 })).status).toBe(400)
  })

  test('is closed, and says why, when the token that opened it is revoked', async () => {
    const socket = await open('Bearer of-t1')
    const said = once(socket, 'message') as Promise<[Buffer]>
    const closed = once(socket, 'close')
    good = 'another'
    await clock.pass(CONSOLE_CHECK_S)
    const [end] = await said
    expect(JSON.parse(end.toString())).toEqual({ type: 'end', text: 'The token is not valid' })
    await closed
  })

  test.each([
    ['a terminal, which answers a guest', 'serial', Buffer.from('\x1b[?1;2c')],
    ['the viewer of a screen', 'vnc', Buffer.from([3, 0])],
  ] as const)('what %s says by itself keeps no session that nobody uses', async (_what, kind, said) => {
    const head = (line: string, more: string[]) => [line, 'Host: x', 'Connection: close', ...more, '', ''].join('\r\n')
    const begun = await harness.raw(head('POST /3/session HTTP/1.1', [`Authorization: ${READER}`]))
    const [cookie = ''] = String(begun.headers['set-cookie']).split(';')
    await clock.pass(SESSION_IDLE_S - CONSOLE_CHECK_S - 1)
    const own = [`Cookie: ${cookie}`, 'X-Unattended: 1']
    const { body } = await ask('', 'both', { kind }, [...own, `X-CSRF-Token: ${String(JSON.parse(begun.body).csrf)}`])
    const socket = connect('', String(body['path']), { Cookie: cookie })
    await once(socket, 'message')
    socket.send(said)
    // It comes back, so it was heard.
    await once(socket, 'message')
    await clock.pass(CONSOLE_CHECK_S)
    const closed = once(socket, 'close')
    await clock.pass(CONSOLE_CHECK_S)
    expect((await harness.raw(head('GET /3/session HTTP/1.1', own))).status).toBe(401)
    socket.close()
    await closed
  })

  test('is refused to a user who has too many open, until one is closed', async () => {
    const sockets: WebSocket[] = []
    for (let count = 0; count < CONSOLES_PER_USER_MAX; count++) sockets.push(await open())
    const { body } = await ask(ADMIN, 'vm1')
    expect(await refused(connect(ADMIN, String(body['path'])))).toBe(429)
    for (const socket of sockets) {
      socket.close()
      await once(socket, 'close')
    }
    const again = await open()
    again.close()
    await once(again, 'close')
  })
})
