// The body of an HTTP message as text, bounded.
import type { IncomingMessage } from 'node:http'
import { FragmentLimit, textOf } from './fragment-limit'
import type { Place, ReadingRoom } from './reading-room'

/** The other end left before its message was complete, or before we looked at it. */
export class SenderLeft extends Error {}

/** The messages that are being read are too long together, and this is the longest. */
export class NoRoom extends Error {}

/**
 * Undefined if it is longer than `limit`, or comes in far too many pieces; then the rest has not been read. Rejects
 * with SenderLeft when the other end leaves, and with NoRoom when it must make room for others. Uses events, because an
 * iterator costs as much as the rest of a small request.
 */
export function readBody(message: IncomingMessage, limit: number, room?: ReadingRoom): Promise<string | undefined> {
  if (Number(message.headers['content-length'] ?? 0) > limit) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    const pieces = new FragmentLimit(limit)
    const end = () => {
      place?.leave()
      message.pause().removeAllListeners('data')
      // The listeners below would keep what was read.
      chunks.length = 0
    }
    const place: Place | undefined = room?.enter(() => {
      end()
      reject(new NoRoom(`it is the longest of messages that have more than ${room.limit} bytes together`))
    })
    message.on('data', (chunk: Buffer) => {
      if (!pieces.exceed(chunk)) {
        chunks.push(chunk)
        return place?.grow(chunk.length)
      }
      end()
      resolve(undefined)
    })
    const left = (cause?: Error) => {
      end()
      reject(new SenderLeft('the connection was closed within a message', { cause }))
    }
    message.once('error', left).once('close', left)
    message.once('end', () => {
      // Making an unused error costs more than the rest of this.
      message.off('close', left)
      place?.leave()
      resolve(textOf(chunks))
    })
  })
}
