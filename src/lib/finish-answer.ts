// Ends HTTP answers. A client that still sends its body would lose the answer if the connection were closed under it, so what is left
// of the body is read and dropped first, within bounds.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, within } from './clock'
import { Pieces } from './pieces'

/** How much of a body is dropped, and for how long. */
export interface DropBounds {
  readonly bytes: number
  readonly seconds: number
}

/** Sends the last bytes of an answer whose headers tell its length. */
export async function finishAnswer(
  response: ServerResponse,
  data: Buffer,
  clock: Clock,
  { bytes, seconds }: DropBounds,
): Promise<void> {
  const request = response.req
  if (request.complete) return void response.end(data)
  response.write(data)
  await within(clock, seconds, drop(request, bytes))
  response.end(() => {
    if (!request.complete) request.socket.destroy()
  })
}

/** Resolves when nothing more comes, or too much. */
function drop(request: IncomingMessage, limit: number): Promise<void> {
  return new Promise((resolve) => {
    const pieces = new Pieces(limit)
    const count = (chunk: Buffer): void => {
      if (!pieces.exceed(chunk)) return
      request.pause().off('data', count)
      resolve()
    }
    const end = (): void => resolve()
    request.on('data', count).once('end', end).once('close', end).once('error', end).resume()
  })
}
