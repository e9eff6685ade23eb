// The body of an HTTP message as text, bounded.
import type { IncomingMessage } from 'node:http'
import { Pieces, textOf } from './pieces'

/** The other end left before its message was complete, or before we looked at it. */
export class SenderLeft extends Error {}

/**
 * Undefined if it is longer than `limit`, or comes in far too many pieces; then the rest has not been read. Rejects
 * with SenderLeft when the other end leaves. Uses events, because an iterator costs as much as the rest of a small
 * request.
 */
export function readBody(message: IncomingMessage, limit: number): Promise<string | undefined> {
  if (Number(message.headers['content-length'] ?? 0) > limit) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const pieces = new Pieces(limit)
    message.on('data', (chunk: Buffer) => {
      if (!pieces.exceed(chunk)) return void chunks.push(chunk)
      message.pause().removeAllListeners('data')
      resolve(undefined)
    })
    const left = (cause?: Error) => reject(new SenderLeft('the connection was closed within a message', { cause }))
    message.once('error', left).once('close', left)
    message.once('end', () => {
      // Making an unused error costs more than the rest of this.
      message.off('close', left)
      resolve(textOf(chunks))
    })
  })
}
