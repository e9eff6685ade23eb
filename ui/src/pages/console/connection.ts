// The connection to a console: a ticket, then a websocket. After an interruption it reconnects with a new ticket of the session. Only a refusal
// of the server ends it.
import { api, got } from '../../api/client'
import { Problem } from '../../api/problem'
import { sessionStore } from '../../api/session-store'
import { texts } from '../../texts'

export type ConsoleKind = 'serial' | 'vnc'

/** From `lost`, it reconnects automatically; from `over`, when the user asks for it. */
export interface ConsoleState {
  readonly phase: 'opening' | 'connected' | 'waiting' | 'lost' | 'over'
  readonly node?: string
  readonly text?: string
}

interface Told {
  readonly type: 'connected' | 'waiting' | 'end'
  readonly stream?: string
  readonly node?: string
  readonly text?: string
}

export interface ConsoleOptions {
  readonly name: string
  readonly kind: ConsoleKind
  readonly readOnly: boolean
  readonly onState: (state: ConsoleState) => void
  /** A new connection to the instance starts. Later data belongs to it. */
  readonly onStream: () => void
  readonly onBytes: (bytes: ArrayBuffer) => void
}

const WAITS_S = [0.5, 1, 2, 5, 10]
/** Statuses after which another try makes sense. */
const PASSING: ReadonlySet<number> = new Set([0, 429, 502, 503, 504])

export class ConsoleConnection {
  private socket: WebSocket | undefined
  private isClosed = false
  private failures = 0
  private attempts = 0
  private timer: number | undefined
  private stopWaiting: () => void = () => undefined

  constructor(private readonly options: ConsoleOptions) {
    void this.open()
  }

  send(data: Uint8Array<ArrayBuffer>): void {
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(data)
  }

  close(): void {
    this.isClosed = true
    window.clearTimeout(this.timer)
    this.stopWaiting()
    this.socket?.close()
  }

  /** Reconnects at once. */
  again(): void {
    void this.open()
  }

  /** Replaces an existing connection, and any other attempt. */
  private async open(): Promise<void> {
    const { name, kind, readOnly, onState } = this.options
    const attempt = ++this.attempts
    window.clearTimeout(this.timer)
    this.stopWaiting()
    const former = this.socket
    this.socket = undefined
    former?.close()
    onState({ phase: 'opening' })
    const isWanted = () => !this.isClosed && attempt === this.attempts
    try {
      const body = { kind, read_only: readOnly }
      const requested = api.POST('/3/instances/{name}/console-tickets', { params: { path: { name } }, body })
      const { path } = await got(requested)
      if (isWanted()) this.connect(path)
    } catch (error) {
      if (isWanted()) this.failed(error)
    }
  }

  private failed(error: unknown): void {
    const text = error instanceof Error ? error.message : String(error)
    if (!(error instanceof Problem)) return this.options.onState({ phase: 'over', text })
    if (error.status === 401) return this.afterSignIn(text)
    if (PASSING.has(error.status)) return this.lost(text)
    this.options.onState({ phase: 'over', text })
  }

  private connect(path: string): void {
    const socket = new WebSocket(path.replace(/^/, `wss://${location.host}`))
    this.socket = socket
    let why: string | undefined
    socket.binaryType = 'arraybuffer'
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (this.socket !== socket) return
      if (data instanceof ArrayBuffer) return this.options.onBytes(data)
      const reported = JSON.parse(String(data)) as Told
      if (reported.type === 'end') why = reported.text
      else this.hear(socket, reported)
    }
    socket.onclose = () => {
      if (!this.isClosed && this.socket === socket) this.lost(why ?? texts.console.lost)
    }
  }

  private hear(socket: WebSocket, { type, stream, node, text }: Told): void {
    const { onState, onStream } = this.options
    if (type === 'waiting') return onState({ phase: 'waiting', node, text })
    this.failures = 0
    onStream()
    // From here on, the node accepts keys for this connection.
    if (stream !== undefined) socket.send(stream)
    onState({ phase: 'connected', node })
  }

  private lost(text: string): void {
    this.options.onState({ phase: 'lost', text })
    const wait_s = WAITS_S[Math.min(this.failures++, WAITS_S.length - 1)] ?? 10
    this.timer = window.setTimeout(() => void this.open(), wait_s * 1000)
  }

  /** The page asks for the password. The connection waits until somebody has signed in. */
  private afterSignIn(text: string): void {
    if (sessionStore.get().state === 'open') return this.lost(text)
    this.options.onState({ phase: 'lost', text })
    this.stopWaiting = sessionStore.subscribe(() => {
      if (sessionStore.get().state === 'open') void this.open()
    })
  }
}
