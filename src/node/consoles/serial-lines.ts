// The watched serial lines. QEMU talks to one client of a line at a time, so all viewers of an instance share a
// connection. Each sees all output, and those who may type share the input, as at one keyboard.
import * as net from 'node:net'
import { checkSocketPath } from '../../lib/net/json-socket'
import { written } from '../../lib/work/written'
import { SERIAL_LINES_KEPT_MAX } from '../../model/limits/consoles'
import { SerialOutput } from './serial-output'

/** A viewer. */
export interface SerialViewer {
  /** Shows output. Returns false if there is no room for more until `onRoom` calls back. */
  show(said: Buffer): boolean
  onRoom(callback: () => void): void
}

export interface JoinedLine {
  /** How much of the output this viewer has seen. */
  seen(): number
  /** Resolves when there is room for more. */
  type(keys: Buffer): Promise<void>
  leave(): void
  /** Resolves when the instance has closed its line. */
  readonly ended: Promise<void>
}

export class SerialLines {
  private readonly open = new Map<string, Promise<SerialLine>>()
  /** By instance; the last opened one is last. */
  private readonly outputs = new Map<string, SerialOutput>()

  /** Whether somebody has this line open. */
  has(instance: string): boolean {
    return this.open.has(instance)
  }

  /**
   * Shows a viewer the output after what it has seen; undefined begins with new output. Rejects if nobody listens
   * there.
   */
  async join(
    instance: string,
    socket: string,
    viewer: SerialViewer,
    observed: number | undefined,
  ): Promise<JoinedLine> {
    const line = await (this.open.get(instance) ?? this.begin(instance, socket))
    return line.join(viewer, observed)
  }

  private begin(instance: string, path: string): Promise<SerialLine> {
    const output = this.outputOf(instance)
    const opened = connect(path).then((socket) => new SerialLine(socket, output))
    this.open.set(instance, opened)
    const forget = () => {
      if (this.open.get(instance) === opened) this.open.delete(instance)
    }
    opened.then((line) => line.socket.once('close', forget), forget)
    return opened
  }

  private outputOf(instance: string): SerialOutput {
    const output = this.outputs.get(instance) ?? new SerialOutput()
    this.outputs.delete(instance)
    this.outputs.set(instance, output)
    const [oldest] = [...this.outputs.keys()].filter((name) => !this.open.has(name))
    if (this.outputs.size > SERIAL_LINES_KEPT_MAX && oldest !== undefined && oldest !== instance)
      this.outputs.delete(oldest)
    return output
  }
}

interface Joined {
  readonly viewer: SerialViewer
  seen: number
  full: boolean
}

class SerialLine {
  private readonly viewers = new Set<Joined>()
  private readonly ended: Promise<void>

  constructor(
    readonly socket: net.Socket,
    private readonly output: SerialOutput,
  ) {
    this.ended = new Promise((resolve) => socket.once('close', () => resolve()))
    socket.on('error', () => undefined)
    socket.on('data', (said: Buffer) => {
      output.append(said)
      for (const joined of this.viewers) this.bringUpToDate(joined)
    })
  }

  join(viewer: SerialViewer, observed = this.output.end): JoinedLine {
    // The kept output may have been dropped meanwhile, so that the count begins again.
    const joined: Joined = { viewer, seen: Math.min(observed, this.output.end), full: false }
    this.viewers.add(joined)
    this.bringUpToDate(joined)
    return {
      seen: () => joined.seen,
      ended: this.ended,
      type: (keys) => written(this.socket, keys),
      leave: () => {
        this.viewers.delete(joined)
        // Other programs on this machine, such as gnt-instance console, may want it.
        if (this.viewers.size === 0) this.socket.destroy()
      },
    }
  }

  private bringUpToDate(joined: Joined): void {
    if (joined.full || !this.viewers.has(joined)) return
    const news = this.output.since(joined.seen)
    joined.seen = this.output.end
    if (news.length === 0 || joined.viewer.show(news)) return
    joined.full = true
    joined.viewer.onRoom(() => {
      joined.full = false
      this.bringUpToDate(joined)
    })
  }
}

function connect(path: string): Promise<net.Socket> {
  checkSocketPath(path)
  return new Promise((resolve, reject) => {
    const socket = net.connect(path)
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}
