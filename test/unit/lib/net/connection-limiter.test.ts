// Connections of one client leave room for others.
import { EventEmitter } from 'node:events'
import { Server as PlainServer, type Socket } from 'node:net'
import { Server } from 'node:tls'
import { ConnectionLimiter } from '../../../../src/lib/net/connection-limiter'
import { silentLog } from '../../../../src/lib/log'
import { Quota } from '../../../../src/lib/net/quota'
import { SteppedClock } from '../../../support/stepped-clock'

class FakeSocket extends EventEmitter {
  destroyed = false
  readonly localAddress = '127.0.0.1'
  constructor(
    readonly remoteAddress: string | undefined,
    readonly remotePort: number | undefined,
  ) {
    super()
  }
  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

const server = new Server()
let port = 1

/** A connection, and the socket of its handshake when that is over. */
function connect(address: string, shake = true) {
  const socket = new FakeSocket(address, port++)
  server.emit('connection', socket)
  const secure = new FakeSocket(address, socket.remotePort)
  if (shake && !socket.destroyed) server.emit('secureConnection', secure)
  return { socket, secure: secure as unknown as Socket }
}

beforeEach(() => server.removeAllListeners())

function crowdWith(open: Quota, handshakes: Quota, enough?: () => number): ConnectionLimiter {
  const options = { clock: new SteppedClock(), log: silentLog, every_s: 60 }
  const crowd = new ConnectionLimiter({ open, handshakes, ...options, ...(enough && { enough }) })
  crowd.watch(server)
  return crowd
}

const many = new Quota({ all: 100, each: 100 })

test('a client has so many connections, is told so on some more, and others have room', () => {
  const crowd = crowdWith(new Quota({ all: 5, each: 3 }), many, () => 2)
  const mine = [1, 2, 3, 4].map(() => connect('10.0.0.1'))
  expect(mine.map(({ socket }) => socket.destroyed)).toEqual([false, false, false, true])
  expect(mine.map(({ secure }) => crowd.isBeyond(secure))).toEqual([false, false, true, false])
  const others = ['2001:db8::1', '2001:db8::2', '10.0.0.2'].map((address) => connect(address))
  expect(others.map(({ socket }) => socket.destroyed)).toEqual([false, false, true])
  mine[0]?.socket.destroy()
  expect(connect('10.0.0.1').socket.destroyed).toBe(false)
})

test('handshakes that strangers do not end take only the room of handshakes', () => {
  crowdWith(many, new Quota({ all: 3, each: 2 }))
  const stranger = [1, 2, 3].map(() => connect('10.0.0.9', false))
  expect(stranger.map(({ socket }) => socket.destroyed)).toEqual([false, false, true])
  const masters = [1, 2, 3, 4].map(() => connect('10.0.0.1'))
  expect(masters.map(({ socket }) => socket.destroyed)).toEqual([false, false, false, false])
  stranger[0]?.socket.destroy()
  expect(connect('10.0.0.9', false).socket.destroyed).toBe(false)
})

test('connections that were reset before they were looked at take no room for ever', () => {
  const handshakes = new Quota({ all: 2, each: 2 })
  crowdWith(many, handshakes)
  const reset = [1, 2, 3].map(() => new FakeSocket(undefined, undefined))
  for (const socket of reset) server.emit('connection', socket)
  for (const socket of reset) if (!socket.destroyed) socket.destroy()
  expect(handshakes.of('unknown')).toBe(0)
  expect(connect('10.0.0.1', false).socket.destroyed).toBe(false)
})

test('a connection without TLS has no handshake to end', () => {
  const handshakes = new Quota({ all: 1, each: 1 })
  const crowd = new ConnectionLimiter({
    ...{ open: new Quota({ all: 5, each: 2 }), handshakes, enough: () => 1 },
    ...{ clock: new SteppedClock(), log: silentLog, every_s: 60 },
  })
  const plain = new PlainServer()
  crowd.watch(plain)
  const sockets = [1, 2, 3].map(() => new FakeSocket('10.0.0.1', port++))
  for (const socket of sockets) plain.emit('connection', socket as unknown as Socket)
  expect(sockets.map((socket) => [socket.destroyed, crowd.isBeyond(socket as unknown as Socket)])).toEqual([
    [false, false],
    [false, true],
    [true, expect.any(Boolean)],
  ])
})
