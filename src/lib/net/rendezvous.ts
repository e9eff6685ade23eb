// A Unix socket on which another program can tell a test to go on.
import { once } from 'node:events'
import * as fs from 'node:fs/promises'
import * as net from 'node:net'
import * as path from 'node:path'
import { type Clock, within } from '../clock'

export interface Rendezvous {
  /** The socket's path. */
  readonly path: string
  /** The client that connected, or undefined if none did in time. */
  caller(limit_s: number): Promise<Caller | undefined>
  /** Stops listening; a connected client may go on. */
  close(): Promise<void>
}

interface Caller {
  /** Whether the client sent something, or left, in time. It is disconnected afterwards. */
  heard(limit_s: number): Promise<boolean>
}

/** The other side: connects, looks around, and leaves, which lets the waiting side go on. */
export async function meet<T>(socketPath: string, look: () => Promise<T>): Promise<T> {
  const socket = net.connect(socketPath)
  try {
    await once(socket, 'connect')
    return await look()
  } finally {
    socket.destroy()
  }
}

/** Both sides must see the directory: a daemon of systemd may have its own temporary directory. */
export async function openRendezvous(clock: Clock, directory: string): Promise<Rendezvous> {
  const folder = await fs.mkdtemp(path.join(directory, 'ganeti-test-'))
  const server = net.createServer()
  const socketPath = path.join(folder, 'sock')
  const connection = once(server, 'connection') as Promise<[net.Socket]>
  connection.catch(() => undefined)
  server.listen(socketPath)
  await once(server, 'listening')
  return {
    path: socketPath,
    async caller(limit_s) {
      const [socket] = (await within(clock, limit_s, connection)) ?? []
      return socket && callerOf(socket, clock)
    },
    async close() {
      server.close()
      await fs.rm(folder, { recursive: true, force: true })
    },
  }
}

function callerOf(socket: net.Socket, clock: Clock): Caller {
  const news = new Promise<true>((resolve) => {
    for (const event of ['data', 'end', 'close', 'error'] as const) socket.once(event, () => resolve(true))
  })
  return {
    async heard(limit_s) {
      const received = (await within(clock, limit_s, news)) === true
      socket.destroy()
      return received
    },
  }
}
