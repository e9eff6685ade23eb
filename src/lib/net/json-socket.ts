// LUXI's framing: UTF-8 texts, each ended by one byte 0x03, over a Unix stream socket. Knows nothing of methods or
// errors; rpc/ gives the texts a meaning.
import * as fs from 'node:fs'
import * as net from 'node:net'
import { hearAll, noteRequest } from '../clock'
import { type Files, systemFiles } from '../files'
import { FragmentLimit, textOf } from './fragment-limit'
import { writeSlice } from '../work/slices'

export const END = 0x03
/** The kernel's sun_path is 108 bytes with its NUL; Node cuts longer ones silently. */
const PATH_BYTES_MAX = 107
/** Seconds that the sender of an oversized message has to read the refusal. */
const REFUSED_S = 10

export interface FramedServerOptions {
  path: string
  mode?: number
  maxFrame: number
  /** Bytes that may wait for a slow reader before it is disconnected. */
  maxBuffered?: number
  maxConnections?: number
  /** Long answers slow down while messages arrive. */
  givesWay?: boolean
  /** Messages of one connection are handled in order, one at a time. */
  onMessage(text: string, connection: FramedConnection): Promise<void> | void
  onOpen?(connection: FramedConnection): void
  /** Also called when a message comes in far too many pieces. */
  onTooLarge?(connection: FramedConnection): void
  /** Gets what `onMessage` or `onOpen` fails with. The connection is closed then. */
  onDefect?(error: unknown): void
}

export interface FramedServer {
  close(): Promise<void>
  readonly connections: ReadonlySet<FramedConnection>
}

/** One end of a connection, the same for server and client. */
export class FramedConnection {
  private chunks: Buffer[] = []
  /** The pieces of the incomplete message. */
  private pieces: FragmentLimit
  private queue: string[] = []
  private busy = false
  /** True when all further data is dropped. */
  private refused = false
  readonly closed: Promise<void>
  private readonly leaving = new AbortController()
  /** Fires when it is closed. */
  readonly signal = this.leaving.signal

  constructor(
    readonly socket: net.Socket,
    private readonly options: Pick<
      FramedServerOptions,
      'maxFrame' | 'maxBuffered' | 'givesWay' | 'onMessage' | 'onTooLarge' | 'onDefect'
    >,
  ) {
    this.pieces = new FragmentLimit(options.maxFrame)
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()))
    socket.once('close', () => this.leaving.abort())
    socket.on('data', (data: Buffer) => this.receive(data))
    socket.on('error', () => socket.destroy())
  }

  /** Returns false and disconnects if the reader is too slow. */
  send(text: string): boolean {
    if (this.socket.destroyed) return false
    this.socket.write(text + '\x03')
    if (this.socket.writableLength <= (this.options.maxBuffered ?? 64 << 20)) return true
    this.socket.destroy()
    return false
  }

  /**
   * Sends a part of a message, which `send` completes. Resolves to true when there is room for more and others have
   * been served, to false when the reader has gone.
   */
  async sendPart(part: string | Buffer): Promise<boolean> {
    if (!this.socket.destroyed) await writeSlice(this.socket, part)
    return !this.socket.destroyed
  }

  /** Whether the sender of the last message still waits for its answer. */
  async senderStays(): Promise<boolean> {
    await hearAll()
    return !this.socket.destroyed && !this.socket.readableEnded
  }

  /** Hands the connection to the caller. Data that has already arrived goes to its next listener. */
  takeOver(): net.Socket {
    this.socket.removeAllListeners('data').pause()
    if (this.chunks.length > 0) this.socket.unshift(Buffer.concat(this.chunks))
    this.chunks = []
    return this.socket
  }

  /** Sends what is buffered, then closes. */
  end(): void {
    this.socket.end()
  }

  destroy(): void {
    this.socket.destroy()
  }

  private receive(data: Buffer): void {
    if (this.options.givesWay === true) noteRequest()
    if (this.refused) return
    let start = 0
    for (let end = data.indexOf(END); end !== -1; end = data.indexOf(END, start)) {
      this.chunks.push(data.subarray(start, end))
      this.queue.push(textOf(this.chunks))
      this.chunks = []
      this.pieces = new FragmentLimit(this.options.maxFrame)
      start = end + 1
    }
    const rest = data.subarray(start)
    if (rest.length > 0) this.chunks.push(rest)
    if (this.pieces.exceed(rest)) {
      this.options.onTooLarge?.(this)
      this.chunks = []
      this.refused = true
      this.socket.end()
      // A client that sends everything before it reads still gets the answer, if it is not too slow.
      setTimeout(() => this.socket.destroy(), REFUSED_S * 1000).unref()
      return
    }
    // A client that pipelines faster than we serve it must wait.
    if (this.queue.length > 64) this.socket.pause()
    if (!this.busy) void this.drain()
  }

  private async drain(): Promise<void> {
    this.busy = true
    try {
      for (let text = this.queue.shift(); text !== undefined; text = this.queue.shift()) {
        await this.options.onMessage(text, this)
        if (this.queue.length <= 64 && this.socket.isPaused()) this.socket.resume()
      }
    } catch (error) {
      // The other end must not wait for an answer that nobody will send.
      this.socket.destroy()
      this.options.onDefect?.(error)
    } finally {
      this.busy = false
    }
  }
}

/** Listens. Replaces an old socket that nobody serves; refuses if a process serves it. */
export async function serveFramed(options: FramedServerOptions): Promise<FramedServer> {
  checkSocketPath(options.path)
  await removeStaleSocket(systemFiles, options.path)
  const connections = new Set<FramedConnection>()
  const server = net.createServer((socket) => {
    if (connections.size >= (options.maxConnections ?? 1024)) return void socket.destroy()
    const connection = new FramedConnection(socket, options)
    connections.add(connection)
    void connection.closed.then(() => connections.delete(connection))
    options.onOpen?.(connection)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(options.path, () => resolve())
  })
  fs.chmodSync(options.path, options.mode ?? 0o660)
  return {
    connections,
    async close() {
      const stopped = new Promise<void>((resolve) => server.close(() => resolve()))
      for (const connection of connections) connection.destroy()
      await stopped
    },
  }
}

export interface FramedClientOptions {
  path: string
  connectTimeout_s: number
  maxFrame?: number
  onMessage(text: string, connection: FramedConnection): Promise<void> | void
}

export async function connectFramed(options: FramedClientOptions): Promise<FramedConnection> {
  const socket = await connectSocket(options.path, options.connectTimeout_s)
  return new FramedConnection(socket, { maxFrame: options.maxFrame ?? 1 << 30, onMessage: options.onMessage })
}

export function connectSocket(path: string, timeout_s: number): Promise<net.Socket> {
  checkSocketPath(path)
  return new Promise((resolve, reject) => {
    const socket = net.connect(path)
    const timer = setTimeout(() => fail(new Error(`no connection to ${path} within ${timeout_s} s`)), timeout_s * 1000)
    const fail = (error: Error) => {
      clearTimeout(timer)
      socket.destroy()
      reject(error)
    }
    socket.once('error', fail)
    socket.once('connect', () => {
      clearTimeout(timer)
      socket.removeListener('error', fail)
      resolve(socket)
    })
  })
}

export interface SocketServer {
  /** Resolves when all connections have ended, too. */
  close(): Promise<void>
}

/** Listens at a path that only this user may use. What dead processes left there is replaced. */
export async function serveSocket(
  files: Files,
  path: string,
  onSocket: (socket: net.Socket) => void,
): Promise<SocketServer> {
  checkSocketPath(path)
  await removeStaleSocket(files, path)
  const server = net.createServer(onSocket)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  await files.chmod(path, 0o600)
  return { close: () => new Promise((resolve) => server.close(() => resolve())) }
}

export function checkSocketPath(path: string): void {
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return
  throw new Error(
    `socket path of ${Buffer.byteLength(path)} bytes is longer than the system's ${PATH_BYTES_MAX}: ${path}; use a shorter root directory`,
  )
}

/** Removes a stale socket; refuses one that a process still serves. */
export async function removeStaleSocket(files: Files, path: string): Promise<void> {
  if (!files.existsSync(path)) return
  if (await isServed(path)) throw new Error(`another process already serves ${path}`)
  await files.rm(path, { force: true })
}

/** Whether a process listens on a Unix socket: only a refused connection or a missing file mean no. */
export function isServed(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      socket.destroy()
      resolve(error.code !== 'ECONNREFUSED' && error.code !== 'ENOENT')
    })
  })
}
