// A request for a websocket is handled like any other until its handler accepts. So the caller is known before the
// upgrade.
import { type IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { offerWebsocket } from './dispatch'
import { hangUp, letGo, type RefusalOptions } from './refusal'
import type { Websockets } from './websockets'

interface UpgradeOptions {
  readonly door: RefusalOptions
  readonly websockets: Websockets
  readonly handle: (request: IncomingMessage, response: ServerResponse) => void
}

export function upgrade(options: UpgradeOptions, request: IncomingMessage, socket: Socket, head: Buffer): void {
  const { door, websockets, handle } = options
  // The server no longer handles its errors.
  socket.on('error', () => socket.destroy())
  const asksForOne = /^websocket$/i.test(request.headers.upgrade ?? '')
  if (!asksForOne && hasBody(request)) return hangUp(socket, NO_BODY, door)
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket)
  response.once('finish', () => letGo(socket, door))
  if (asksForOne)
    offerWebsocket(request, (talk) => {
      response.detachSocket(socket)
      response.statusCode = 400
      socket.once('close', () => response.emit('close'))
      websockets.accept(request, socket, head, talk, () => (response.statusCode = 101))
    })
  handle(request, response)
}

/** Other protocols may be declined, but the parser that would read the body has already stopped. */
const NO_BODY = { status: 400, message: 'A request with a body cannot ask for another protocol' }

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
