// Messages are put together from whatever pieces a socket gives.
import { Socket } from 'node:net'
import { FramedConnection } from '../../../../src/lib/net/json-socket'

/** The messages that a connection makes of these pieces. */
function received(pieces: Iterable<string>): { messages: string[]; refused: number } {
  const socket = new Socket()
  const messages: string[] = []
  let refused = 0
  new FramedConnection(socket, {
    maxFrame: 1 << 20,
    onMessage: (text) => void messages.push(text),
    onTooLarge: () => void refused++,
  })
  for (const piece of pieces) socket.emit('data', Buffer.from(piece))
  socket.destroy()
  return { messages, refused }
}

test('a message in far too many pieces is refused, once, long before it is too long', () => {
  expect(received(Array<string>(12_000).fill('x'))).toEqual({ messages: [], refused: 1 })
})

test('a long message may come in packets, and a short one in single bytes', () => {
  const short = [...'short\x03']
  const packets = [...Array<string>(500).fill('y'.repeat(2000)), '\x03']
  const { messages, refused } = received([...short, ...packets])
  expect([messages[0], refused]).toEqual(['short', 0])
})

test('each message has its own pieces', () => {
  expect(received(Array<string>(9_000).fill('z').concat('\x03', Array<string>(9_000).fill('z'))).refused).toBe(0)
})

test('a handler that fails closes its connection, so that nobody waits for an answer, and the next message is not stuck', async () => {
  const socket = new Socket()
  const defects: unknown[] = []
  const messages: string[] = []
  new FramedConnection(socket, {
    maxFrame: 1 << 20,
    onMessage(text) {
      messages.push(text)
      return text === 'bad' ? Promise.reject(new Error('a defect')) : undefined
    },
    onDefect: (error) => defects.push(error),
  })
  socket.emit('data', Buffer.from('bad\x03'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(defects).toEqual([new Error('a defect')])
  expect(socket.destroyed).toBe(true)
  socket.emit('data', Buffer.from('good\x03'))
  expect(messages).toEqual(['bad', 'good'])
})
