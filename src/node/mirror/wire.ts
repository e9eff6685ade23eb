// How the two sides of a mirrored disk find each other. Each side has a socket that is named after its address, in a folder that only their
// user may enter. The side with the smaller address connects, so that there is only one connection.
import type * as net from 'node:net'
import type { Clock } from '../../lib/clock'
import type { Files } from '../../lib/files'
import { type SocketServer, connectSocket, serveSocket } from '../../lib/net/json-socket'
import { MIRROR_ANSWER_S, MIRROR_REDIAL_MS } from '../../model/limits/mirror'
import type { Link } from './link'

export interface Addresses {
  readonly local: string
  readonly remote: string
}

export class Wire {
  private server: SocketServer | undefined
  private link: Link | undefined
  private closed = false
  private dialing = false

  constructor(
    private readonly parts: { readonly clock: Clock; readonly files: Files },
    private readonly addresses: Addresses,
    private readonly connected: (socket: net.Socket, isDialer: boolean) => Link,
  ) {}

  async open(): Promise<void> {
    const { local, remote } = this.addresses
    if (local < remote) return void this.dial()
    this.server = await serveSocket(this.parts.files, local, (socket) => {
      if (this.closed || this.link?.isOpen === true) return void socket.destroy()
      this.link = this.connected(socket, false)
    })
  }

  /** Called when the connection was lost: the side that connected connects again. */
  again(): void {
    const { local, remote } = this.addresses
    if (local < remote && !this.dialing) void this.dial(MIRROR_REDIAL_MS)
  }

  close(): void {
    this.closed = true
    void this.server?.close()
  }

  private async dial(pause_ms = 0): Promise<void> {
    this.dialing = true
    if (pause_ms > 0) await this.parts.clock.sleep(pause_ms)
    while (!this.closed && this.link?.isOpen !== true) {
      const socket = await connectSocket(this.addresses.remote, MIRROR_ANSWER_S).catch(() => undefined)
      if (socket === undefined) await this.parts.clock.sleep(MIRROR_REDIAL_MS)
      else if (this.closed) socket.destroy()
      else this.link = this.connected(socket, true)
    }
    this.dialing = false
  }
}
