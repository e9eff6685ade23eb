// lib/net/json-socket.ts without sockets: the same interface between simulated processes, in order and with delays. The tests put it in the
// place of the module, so that all of the product speaks through it; which process speaks is told by SimProcess.current.
import type {
  FramedClientOptions,
  FramedServer,
  FramedServerOptions,
  FramedConnection as RealConnection,
} from '../../src/lib/net/json-socket'
import { SimProcess } from './simulator'

interface Listener {
  readonly process: SimProcess
  readonly options: FramedServerOptions
  readonly connections: Set<FramedConnection>
}

/** Listeners by path, which names the machine. The socket of a dead process stays as a file that refuses connections. */
const listeners = new Map<string, Listener>()

/** Sockets that are files in a directory, as a list of names shows them. */
export const socketsBelow = (directory: string): string[] =>
  [...listeners.keys()]
    .filter((path) => path.startsWith(`${directory}/`))
    .map((path) => path.slice(directory.length + 1))

export const removeSocket = (path: string): void => void listeners.delete(path)

/** A machine lost power, or a new simulation begins. */
export function forgetSockets(below: string): void {
  for (const path of listeners.keys()) if (path.startsWith(below)) listeners.delete(path)
}

export const END = 0x03

/** The part of all messages of daemons that get lost, with their connections. */
let lost = 0
export const loseAnswers = (part: number): void => void (lost = part)

export { connectSocket, serveSocket } from './sim-streams'

type Options = Pick<FramedServerOptions, 'onMessage'>

export class FramedConnection implements Omit<RealConnection, 'socket' | 'takeOver'> {
  readonly socket = { destroyed: false, writableEnded: false }
  private readonly leaving = new AbortController()
  readonly signal = this.leaving.signal
  readonly closed: Promise<void>
  other: FramedConnection | undefined
  private hangUp: () => void = () => undefined
  private readonly queue: string[] = []
  private busy = false
  /** The parts of a message that were written before `send` ends it. */
  private begun = ''
  /** The arrival time of the last message: later ones must not overtake it. */
  private arrival_ms = 0
  private readonly forget: () => void

  constructor(
    readonly process: SimProcess,
    private readonly options: Options,
    private readonly serves = false,
  ) {
    this.closed = new Promise((resolve) => (this.hangUp = resolve))
    // The kernel hangs up for a process that is gone; it hears nothing of that itself.
    this.forget = process.onEnd(() => {
      this.socket.destroyed = true
      this.later((other) => other.close())
    })
  }

  send(text: string): boolean {
    if (this.socket.destroyed) return false
    const whole = this.begun + text
    this.begun = ''
    if (this.serves && lost > 0 && this.process.simulator.chance(lost)) {
      this.destroy()
      return false
    }
    if (!this.socket.writableEnded) this.later((other) => other.receive(whole))
    return true
  }

  async sendPart(part: string | Buffer): Promise<boolean> {
    this.begun += part.toString()
    return !this.socket.destroyed
  }

  async senderStays(): Promise<boolean> {
    await pause(this.process)
    return !this.socket.destroyed
  }

  end(): void {
    if (this.socket.writableEnded) return
    this.socket.writableEnded = true
    // Both ends close when one has nothing more to say, as sockets here do by default.
    this.later((other) => {
      other.close()
      this.close()
    })
  }

  destroy(): void {
    if (this.socket.destroyed) return
    this.later((other) => other.close())
    this.close()
  }

  private close(): void {
    if (this.socket.destroyed) return
    this.socket.destroyed = true
    this.socket.writableEnded = true
    this.forget()
    this.leaving.abort()
    this.hangUp()
  }

  /** Acts at the other end, after everything that was sent before. */
  private later(action: (other: FramedConnection) => void): void {
    const { other } = this
    const { simulator } = this.process
    if (other === undefined) return
    this.arrival_ms = Math.max(this.arrival_ms, simulator.time_ms + simulator.between(0.01, 0.3))
    simulator.after(this.arrival_ms - simulator.time_ms, other.process, () => action(other))
  }

  private receive(text: string): void {
    if (this.socket.destroyed) return
    this.queue.push(text)
    if (!this.busy) void this.drain()
  }

  private async drain(): Promise<void> {
    this.busy = true
    for (let text = this.queue.shift(); text !== undefined; text = this.queue.shift())
      await this.options.onMessage(text, this as never)
    this.busy = false
  }
}

const pause = (process: SimProcess): Promise<void> =>
  new Promise((resolve) => {
    process.simulator.after(process.simulator.between(0.01, 0.2), process, resolve)
  })

export async function serveFramed(options: FramedServerOptions): Promise<FramedServer> {
  const { path } = options
  const process = SimProcess.current()
  await pause(process)
  if (listeners.get(path)?.process.alive) throw new Error(`another process already serves ${path}`)
  const listener: Listener = { process, options, connections: new Set() }
  listeners.set(path, listener)
  return {
    connections: listener.connections as never,
    async close() {
      if (listeners.get(path) === listener) listeners.delete(path)
      for (const connection of listener.connections) connection.destroy()
      await pause(process)
    },
  }
}

export async function connectFramed(options: FramedClientOptions): Promise<FramedConnection> {
  const process = SimProcess.current()
  await pause(process)
  const listener = listeners.get(options.path)
  if (!listener?.process.alive) throw refusal(options.path, listener !== undefined)
  const near = new FramedConnection(process, { onMessage: options.onMessage })
  const far = new FramedConnection(listener.process, listener.options, true)
  near.other = far
  far.other = near
  listener.connections.add(far)
  void far.closed.then(() => listener.connections.delete(far))
  // The kernel accepts for a process that is stopped; it learns of that when it goes on.
  process.simulator.after(0, listener.process, () => listener.options.onOpen?.(far as never))
  return near
}

export const checkSocketPath = (): void => undefined

export async function isServed(path: string): Promise<boolean> {
  await pause(SimProcess.current())
  return listeners.get(path)?.process.alive === true
}

function refusal(path: string, isThere: boolean): Error {
  const code = isThere ? 'ECONNREFUSED' : 'ENOENT'
  return Object.assign(new Error(`connect ${code} ${path}`), { code })
}
