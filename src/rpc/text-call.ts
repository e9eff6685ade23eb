// A call whose answer is passed on unparsed: parsing a long list only to write it again costs more than making it.
import type { Socket } from 'node:net'
import { END, connectSocket } from '../lib/net/json-socket'
import { errorFromWire, GenericError } from '../model/errors'
import { CALL_CONNECT_S } from '../model/limits/wires'
import { type JsonClientOptions, late, lost, PeerError, readReply, unreachable } from './json-protocol'
import { ANSWER_HEAD, JsonText } from './long-answers'

/**
 * Uses its own connection, which closes when the text has been read, or the reader stops. The time limit is for the
 * answer's beginning.
 */
export async function callForText(
  options: JsonClientOptions,
  method: string,
  args: unknown,
  timeout_s: number,
): Promise<JsonText> {
  const { path, peer, connectTimeout_s = CALL_CONNECT_S, clock } = options
  const socket = await connectSocket(path, connectTimeout_s).catch((error: unknown) => {
    throw unreachable(peer, path, error)
  })
  const timer = clock.after(timeout_s * 1000, () => socket.destroy(late(peer, path, method, timeout_s)))
  const bytes = messageOf(socket, lost(peer, path))
  try {
    socket.write(`${JSON.stringify({ method, args })}\x03`)
    const head = await readHead(bytes)
    if (head.toString('latin1', 0, ANSWER_HEAD.length) === ANSWER_HEAD)
      return new JsonText(withoutLastByte(head.subarray(ANSWER_HEAD.length), bytes))
    const { success, result } = await readReply(method, await readAll(head, bytes))
    throw success ? new GenericError(`the answer to ${method} is malformed`) : errorFromWire(result)
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    timer.cancel()
  }
}

/** The message's bytes without the final byte. No piece is empty. */
async function* messageOf(socket: Socket, cutOff: PeerError): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of socket) {
      if (!Buffer.isBuffer(chunk)) continue
      const end = chunk.indexOf(END)
      if (end !== 0) yield end === -1 ? chunk : chunk.subarray(0, end)
      if (end !== -1) return
    }
  } catch (error) {
    throw error instanceof PeerError ? error : cutOff
  }
  throw cutOff
}

/** Reads until it is known whether the call succeeded. */
async function readHead(bytes: AsyncGenerator<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0)
  while (head.length <= ANSWER_HEAD.length) {
    const { value, done } = await bytes.next()
    if (done === true) break
    head = Buffer.concat([head, value])
  }
  return head
}

async function readAll(head: Buffer, bytes: AsyncIterable<Buffer>): Promise<string> {
  const all = [head]
  for await (const chunk of bytes) all.push(chunk)
  return Buffer.concat(all).toString('utf8')
}

/** The last byte closes the answer around the result. */
async function* withoutLastByte(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held = first
  for await (const chunk of rest) {
    yield held
    held = chunk
  }
  yield held.subarray(0, -1)
}
