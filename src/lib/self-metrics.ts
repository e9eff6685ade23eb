// Figures that a process reports about itself to local clients of its socket: one JSON object, then the end. Both ends
// are here.
import * as net from 'node:net'
import type { Clock } from './clock'
import { errorCode } from './disk'
import { systemFiles } from './files'
import { checkSocketPath, removeStaleSocket } from './net/json-socket'
import { isObject } from './shapes/shape'

/** Numbers by their names. */
export type SelfMetrics = Readonly<Record<string, number>>

const CONNECTIONS_MAX = 16
const BYTES_MAX = 4096

export async function serveMetrics(path: string, tell: () => SelfMetrics): Promise<{ close(): void }> {
  checkSocketPath(path)
  await removeStaleSocket(systemFiles, path)
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy())
    try {
      socket.end(JSON.stringify(tell()))
    } catch {
      // Whoever asks says that there are no figures; the daemon itself goes on.
      socket.destroy()
    }
  })
  server.maxConnections = CONNECTIONS_MAX
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve())
  })
  server.unref()
  return { close: () => void server.close() }
}

/** Undefined if there is no such socket. Rejects if the process does not answer in time, or answers nonsense. */
export function readMetrics(path: string, clock: Clock, limit_s: number): Promise<SelfMetrics | undefined> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(path)
    let text = ''
    const end = (settle: () => void) => {
      timer.cancel()
      socket.destroy()
      settle()
    }
    const fail = (why: string) => end(() => reject(new Error(why)))
    const timer = clock.after(limit_s * 1000, () => fail(`no answer within ${limit_s} s`))
    socket.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      if (text.length > BYTES_MAX) fail('it says too much')
    })
    socket.on('error', (error) => {
      const nobody = ['ENOENT', 'ECONNREFUSED'].includes(errorCode(error) ?? '')
      if (nobody) end(() => resolve(undefined))
      else fail(error.message)
    })
    socket.on('end', () => {
      const figures = figuresIn(text)
      if (figures === undefined) fail('it tells no figures')
      else end(() => resolve(figures))
    })
  })
}

function figuresIn(text: string): SelfMetrics | undefined {
  try {
    const reported: unknown = JSON.parse(text)
    if (!isObject(reported)) return undefined
    const numbers = Object.entries(reported).flatMap(([name, value]) =>
      typeof value === 'number' ? [[name, value] as const] : [],
    )
    return Object.fromEntries(numbers)
  } catch {
    return undefined
  }
}
