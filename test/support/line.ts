// The line between a browser and a server, which a test can break: a port of this machine that leads to the server.
import { once } from 'node:events'
import * as net from 'node:net'

export class Line {
  private readonly sockets = new Set<net.Socket>()
  private isCut = false

  private constructor(
    private readonly server: net.Server,
    private readonly target: { readonly host: string; readonly port: number },
  ) {}

  static async to(url: string): Promise<Line> {
    const { hostname, port } = new URL(url)
    const server = net.createServer()
    const line = new Line(server, { host: hostname, port: Number(port) })
    server.on('connection', (socket) => line.join(socket))
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return line
  }

  get url(): string {
    return `https://127.0.0.1:${(this.server.address() as net.AddressInfo).port}`
  }

  /** Whatever is on its way is lost, and nothing more comes through. */
  cut(): void {
    this.isCut = true
    for (const socket of this.sockets) socket.destroy()
  }

  mend(): void {
    this.isCut = false
  }

  async close(): Promise<void> {
    this.cut()
    await new Promise((resolve) => this.server.close(resolve))
  }

  private join(near: net.Socket): void {
    if (this.isCut) return void near.destroy()
    const far = net.connect(this.target)
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.sockets.add(one)
      one.pipe(other)
      one.on('error', () => undefined)
      one.on('close', () => {
        this.sockets.delete(one)
        other.destroy()
      })
    }
  }
}
