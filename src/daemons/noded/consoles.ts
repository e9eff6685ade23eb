// Requests for consoles of this node's instances: an upgrade of a connection, which then carries messages. Only callers
// that may call this node may have one, and this is checked again while it is open.
import type { IncomingMessage } from 'node:http'
import type { Server } from 'node:https'
import type { Socket } from 'node:net'
import type { Clock } from '../../lib/clock'
import { framedMessages } from '../../lib/net/framed-messages'
import { CONSOLE_CHECK_S, CONSOLE_MESSAGE_BYTES_MAX } from '../../model/limits/consoles'
import { NodeConsoles } from '../../node/consoles/node-consoles'
import type { NodeContext } from '../../node/context'
import { CONSOLE_PATH, CONSOLE_PROTOCOL } from '../../rpc/node/consoles'

export function serveConsoles(
  server: Server,
  context: NodeContext,
  accepts: (socket: Socket) => boolean,
): { close(): void } {
  const consoles = new NodeConsoles(context)
  const failed = (socket: Socket) => (error: unknown) => {
    context.log.error({ err: error }, 'a console ended because of a defect')
    socket.destroy()
  }
  const begin = async (request: IncomingMessage, socket: Socket, head: Buffer) => {
    if (!accepts(request.socket))
      return refuse(socket, '403 Forbidden', 'The certificate of the caller is not accepted')
    if (request.url !== CONSOLE_PATH || request.headers.upgrade !== CONSOLE_PROTOCOL)
      return refuse(socket, '404 Not Found', 'There is no such line')
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${CONSOLE_PROTOCOL}\r\n\r\n`)
    if (head.length > 0) socket.unshift(head)
    endWhenRefused(context.clock, socket, () => accepts(request.socket), failed(socket))
    await consoles.serve(framedMessages(socket, CONSOLE_MESSAGE_BYTES_MAX))
  }
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    begin(request, socket, head).catch(failed(socket))
  })
  return consoles
}

/** A demoted candidate loses its open consoles too. */
function endWhenRefused(clock: Clock, socket: Socket, accepted: () => boolean, failed: (error: unknown) => void): void {
  const look = () => {
    try {
      if (!accepted()) return void socket.destroy()
    } catch (error) {
      return failed(error)
    }
    timer = clock.after(CONSOLE_CHECK_S * 1000, look, { background: true })
  }
  let timer = clock.after(CONSOLE_CHECK_S * 1000, look, { background: true })
  socket.once('close', () => timer.cancel())
}

function refuse(socket: Socket, status: string, text: string): void {
  const body = `${text}\n`
  const head = `HTTP/1.1 ${status}\r\nContent-Type: text/plain\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close`
  socket.end(`${head}\r\n\r\n${body}`)
}
