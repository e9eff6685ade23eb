// Websockets: their handshake and lifetime. Their handlers exchange the messages.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '../lib/clock'
import type { Log } from '../lib/log'
import type { HttpLimits } from '../model/limits/http'

/** Exchanges a websocket's messages (texts and buffers) over the stream. The websocket closes when this resolves. */
export type Talk = (messages: Duplex) => Promise<void>

interface WebsocketOptions {
  readonly limits: Pick<HttpLimits, 'message_bytes' | 'ping_s'>
  readonly clock: Clock
  readonly log: Log
}

/** Reasons to close (RFC 6455). */
const CLOSE = { done: 1000, goingAway: 1001, defect: 1011 } as const

export class Websockets {
  private readonly server: WebSocketServer
  private closing = false

  constructor(private readonly options: WebsocketOptions) {
    // A longer message ends its websocket. Compression is off, because a few bytes could expand to many.
    const maxPayload = options.limits.message_bytes
    this.server = new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false })
  }

  /** Calls `begun` on success; otherwise tells the client why not. */
  accept(request: IncomingMessage, socket: Socket, head: Buffer, talk: Talk, begun: () => void): void {
    // The door closed while the request was still being checked.
    if (this.closing) return void socket.destroy()
    this.server.handleUpgrade(request, socket, head, (line) => {
      begun()
      // An unhandled error would end the daemon; the stream reports the first one.
      line.on('error', () => undefined)
      this.watch(line)
      void this.run(line, talk)
    })
  }

  /** Tells all clients that the door closes. */
  close(): void {
    this.closing = true
    for (const line of this.server.clients) line.close(CLOSE.goingAway)
  }

  /** Disconnects the clients that are left. */
  terminate(): void {
    for (const line of this.server.clients) line.terminate()
  }

  private async run(line: WebSocket, talk: Talk): Promise<void> {
    // Texts stay texts in both directions. A slow reader holds up the other end; nothing is buffered for it.
    const messages = createWebSocketStream(line, { readableObjectMode: true, decodeStrings: false })
    let broken = false
    messages.on('error', () => (broken = true))
    try {
      await talk(messages)
      line.close(CLOSE.done)
    } catch (error) {
      // The other end may leave at any time, or send an invalid message.
      if (!broken) this.options.log.error({ err: error }, 'a websocket failed because of a defect')
      line.close(CLOSE.defect)
    }
  }

  /** Disconnects a client that has not answered a ping by the next one, or reads nothing. */
  private watch(line: WebSocket): void {
    const { clock, limits } = this.options
    let received = true
    const beat = (): void => {
      // While earlier messages are being handled, no answer can be noticed.
      if (!received && !line.isPaused) return line.terminate()
      received = false
      line.ping()
      timer = clock.after(limits.ping_s * 1000, beat, { background: true })
    }
    let timer = clock.after(limits.ping_s * 1000, beat, { background: true })
    line.on('pong', () => (received = true)).once('close', () => timer.cancel())
  }
}
