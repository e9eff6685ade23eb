// Texts and bytes share a line, whatever the pieces that they arrive in.
import { type Duplex, duplexPair } from 'node:stream'
import { framedMessages } from '../../../../src/lib/net/framed-messages'

async function received(messages: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const message of messages) all.push(message)
  return all
}

/** The bytes that these messages are sent as. */
async function sent(...messages: readonly (string | Buffer)[]): Promise<Buffer> {
  const [near, far] = duplexPair()
  const line = framedMessages(near, 100)
  for (const message of messages) line.write(message)
  line.end()
  return Buffer.concat((await received(far)) as Buffer[])
}

test.each([1000, 1, 3])('texts and bytes arrive as what they were, in pieces of %s bytes', async (piece) => {
  const bytes = await sent('{"type":"waiting"}', Buffer.from('hello'), '', 'ünder')
  const [near, far] = duplexPair()
  const all = received(framedMessages(far, 100))
  for (let at = 0; at < bytes.length; at += piece) near.write(bytes.subarray(at, at + piece))
  near.end()
  expect(await all).toEqual(['{"type":"waiting"}', Buffer.from('hello'), '', 'ünder'])
})

const failure = (line: Duplex): Promise<Error> => new Promise((resolve) => line.once('error', resolve))

test('bytes beyond the longest message come in several, and a text beyond it is refused', async () => {
  const [near, far] = duplexPair()
  framedMessages(near, 4).end(Buffer.from('123456789'))
  expect(await received(framedMessages(far, 4))).toEqual(['1234', '5678', '9'].map((text) => Buffer.from(text)))
  const line = framedMessages(duplexPair()[0], 4)
  line.write('12345')
  expect((await failure(line)).message).toBe('a text of 5 bytes is too long')
})

test('who sends a longer message than allowed is hung up on', async () => {
  const [near, far] = duplexPair()
  const line = framedMessages(far, 4)
  near.write(Buffer.from([0, 0, 0, 1, 0]))
  expect((await failure(line)).message).toBe('a message of 256 bytes is too long')
  expect(far.destroyed).toBe(true)
})

test('a reader that does not read holds up the writer', async () => {
  const [near, far] = duplexPair()
  const [writer, reader] = [framedMessages(near, 1 << 16), framedMessages(far, 1 << 16)]
  let written = 0
  const write = () => {
    if (written < 200) writer.write(Buffer.alloc(1 << 16), () => void (written++, write()))
    else writer.end()
  }
  write()
  for (let turn = 0; turn < 300; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(written).toBeLessThan(40)
  expect(await received(reader)).toHaveLength(200)
})
