// A client may send requests without waiting for answers. Those of one connection are answered in their order anyway, so none is begun
// before the answer to the one before it has been sent: else one connection would have the work of thousands done at the same time.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export class OneByOne {
  /** By connection, what is to be begun after the request that is being answered. */
  private readonly lines = new WeakMap<Socket, (() => unknown)[]>()

  /** `pipelined`: how many may wait on a connection. */
  constructor(private readonly pipelined: number) {}

  begin({ socket }: IncomingMessage, response: ServerResponse, work: () => unknown): void {
    if (socket.destroyed) return
    const line = this.lines.get(socket)
    if (line !== undefined && line.length >= this.pipelined) return void socket.destroy()
    response.once('close', () => this.next(socket))
    if (line !== undefined) return void line.push(work)
    this.lines.set(socket, [])
    work()
  }

  /** Whether answers to earlier requests are still to come. */
  isBusy(socket: Socket): boolean {
    return this.lines.has(socket)
  }

  private next(socket: Socket): void {
    const work = this.lines.get(socket)?.shift()
    if (work === undefined) this.lines.delete(socket)
    else if (!socket.destroyed) work()
  }
}
