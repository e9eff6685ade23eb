// A client may send requests without waiting for answers. One connection's answers go out in order anyway, so a request
// begins only after the previous answer. Otherwise one connection could start thousands of requests at the same time.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export class PipelineQueue {
  /** By connection, the requests that wait for the current one. */
  private readonly lines = new WeakMap<Socket, (() => unknown)[]>()

  /** `pipelined`: how many requests may wait on a connection. */
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

  /** Whether earlier requests are still unanswered. */
  isBusy(socket: Socket): boolean {
    return this.lines.has(socket)
  }

  private next(socket: Socket): void {
    const work = this.lines.get(socket)?.shift()
    if (work === undefined) this.lines.delete(socket)
    else if (!socket.destroyed) work()
  }
}
