// Websockets: their handshake, and how long they are kept. What is said on one is its handler's.
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws'
import type { Clock } from '../lib/clock'
import type { Log } from '../lib/log'
import type { HttpLimits } from '../model/limits/http'

/** Has the messages of a websocket, which come out of the stream and go into it: texts and buffers. It is closed when this ends. */
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
    // A longer message ends its websocket. Nothing is compressed, since a few bytes could become many.
    const maxPayload = options.limits.message_bytes
    this.server = new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false })
  }

  /** `begun` is called when the client got what it asked for; otherwise it is told why not. */
  accept(request: IncomingMessage, socket: Socket, head: Buffer, talk: Talk, begun: () => void): void {
    // Who was still being looked at when the door closed.
    if (this.closing) return void socket.destroy()
    this.server.handleUpgrade(request, socket, head, (line) => {
      begun()
      // An error that nobody hears would end the daemon; the stream tells the first one.
      line.on('error', () => undefined)
      this.watch(line)
      void this.run(line, talk)
    })
  }

  /** Tells everybody that the door closes. */
  close(): void {
    this.closing = true
    for (const line of this.server.clients) line.close(CLOSE.goingAway)
  }

  /** Ends those who stay. */
  terminate(): void {
    for (const line of this.server.clients) line.terminate()
  }

  private async run(line: WebSocket, talk: Talk): Promise<void> {
    // Texts stay texts, in both directions. Who reads slowly holds up the other end, and nothing is kept for it.
    const messages = createWebSocketStream(line, { readableObjectMode: true, decodeStrings: false })
    let broken = false
    messages.on('error', () => (broken = true))
    try {
      await talk(messages)
      line.close(CLOSE.done)
    } catch (error) {
      // The other end may leave at any time, or say what is no message.
      if (!broken) this.options.log.error({ err: error }, 'a websocket failed because of a defect')
      line.close(CLOSE.defect)
    }
  }

  /** A client that does not answer a ping until the next one has gone, or takes nothing of what it is sent. */
  private watch(line: WebSocket): void {
    const { clock, limits } = this.options
    let heard = true
    const beat = (): void => {
      // Nothing is heard while what came before is still being worked on.
      if (!heard && !line.isPaused) return line.terminate()
      heard = false
      line.ping()
      timer = clock.after(limits.ping_s * 1000, beat, { background: true })
    }
    let timer = clock.after(limits.ping_s * 1000, beat, { background: true })
    line.on('pong', () => (heard = true)).once('close', () => timer.cancel())
  }
}
