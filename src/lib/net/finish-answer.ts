// Ends HTTP answers. A client that is still sending its body would lose the answer if we closed the connection. So we
// first read and drop the rest of the body, within bounds.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Clock, within } from '../clock'
import { FragmentLimit } from './fragment-limit'

/** How many bytes of a body to drop, and for how long. */
export interface DropBounds {
  readonly bytes: number
  readonly seconds: number
}

/** Sends the last bytes of an answer whose headers state its length. */
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

/** Resolves when the body has ended, or is too long. */
function drop(request: IncomingMessage, limit: number): Promise<void> {
  return new Promise((resolve) => {
    const pieces = new FragmentLimit(limit)
    const count = (chunk: Buffer): void => {
      if (!pieces.exceed(chunk)) return
      request.pause().off('data', count)
      resolve()
    }
    const end = (): void => resolve()
    request.on('data', count).once('end', end).once('close', end).once('error', end).resume()
  })
}
