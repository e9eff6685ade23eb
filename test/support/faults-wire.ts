// Raw clients for tests of bad input. They send what no client of ours would send, and return how they were answered.
import * as fs from 'node:fs'
import type * as http from 'node:http'
import * as https from 'node:https'
import * as net from 'node:net'
import * as path from 'node:path'
import * as tls from 'node:tls'
import { PORT } from '../../src/model/constants/daemons'
import type { EmbeddedCluster } from './embedded-cluster'
import { NODES, dataDir } from './faults'

/** Sends bytes to a framed socket. Resolves to the first answer, or to the reason why there was none. */
export function sendFrame(socketPath: string, pieces: Iterable<Buffer | string>, limit_s = 30): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(socketPath)
    let answer = ''
    const end = (text: string) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(text)
    }
    const timer = setTimeout(() => end('no answer'), limit_s * 1000)
    socket.on('data', (data: Buffer) => {
      answer += data.toString('utf8')
      if (answer.includes('\x03')) end(answer.slice(0, answer.indexOf('\x03')))
    })
    socket.once('error', (error) => end(error.message))
    socket.once('close', () => end('closed'))
    socket.once('connect', () => void write(socket, pieces))
  })
}

async function write(socket: net.Socket, pieces: Iterable<Buffer | string>): Promise<void> {
  for (const piece of pieces) {
    if (socket.destroyed) return
    if (!socket.write(piece)) await drained(socket)
  }
}

/** Waits until more can be written, or the reader is gone. */
function drained(stream: net.Socket | http.ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      stream.off('drain', end).off('close', end)
      resolve()
    }
    stream.on('drain', end).on('close', end)
  })
}

/** The given number of MiB, all of the same letter. */
export function* megabytes(count: number, start = ''): Generator<Buffer | string> {
  yield start
  const piece = Buffer.alloc(1 << 20, 'x')
  for (let i = 0; i < count; i++) yield piece
}

export interface HttpsCall {
  host: string
  port: number
  method: string
  path: string
  headers?: Record<string, string | number>
  auth?: string
  tls?: { key?: string; cert?: string }
  body?: Iterable<Buffer | string>
}

/** Resolves to `status: 0` with the reason if there was no answer. */
export function httpsCall(call: HttpsCall): Promise<{ status: number; body: string }> {
  return new Promise((resolve) => {
    const { host, port, method, auth, headers, body = [] } = call
    const request = https.request(
      { host, port, method, auth, headers, path: call.path, rejectUnauthorized: false, agent: false, ...call.tls },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        const end = () => {
          request.destroy()
          resolve({ status: response.statusCode ?? 0, body: text })
        }
        response.once('end', end).once('error', end)
      },
    )
    request.once('error', (error) => resolve({ status: 0, body: error.message }))
    void (async () => {
      for (const piece of body) {
        if (request.destroyed) return
        if (!request.write(piece)) await drained(request)
      }
      request.end()
    })()
  })
}

/** A node call as a master candidate sends it, with any arguments. */
export function nodeCall(cluster: EmbeddedCluster, name: string, args: unknown, pem?: string) {
  const client = pem ?? fs.readFileSync(path.join(dataDir(cluster, NODES[0] ?? ''), 'client.pem'), 'utf8')
  const text = typeof args === 'string' ? args : JSON.stringify(args)
  return httpsCall({
    ...{ host: cluster.address.replace(/\.1$/, '.2'), port: PORT.noded, method: 'POST', path: `/${name}` },
    tls: client === '' ? {} : { key: client, cert: client },
    headers: { 'Content-Length': Buffer.byteLength(text) },
    body: [text],
  })
}

/** Opens many connections at once and sends nothing on them. Resolves when each was accepted or refused. */
export async function crowd(count: number, connect: () => net.Socket): Promise<{ leave(): void; open: number }> {
  const sockets = Array.from({ length: count }, connect)
  await Promise.all(
    sockets.map(
      (socket) => new Promise((next) => socket.once('connect', next).once('error', next).once('close', next)),
    ),
  )
  return {
    open: sockets.filter((socket) => !socket.destroyed).length,
    leave: () => sockets.forEach((socket) => socket.destroy()),
  }
}

/** A TLS client that sends its request one byte at a time. Resolves to the seconds until it was disconnected. */
export function dribble(host: string, port: number, text: string): Promise<number> {
  return new Promise((resolve) => {
    const began = performance.now()
    const socket = tls.connect({ host, port, rejectUnauthorized: false })
    let at = 0
    const timer = setInterval(() => socket.write(text[at++ % text.length] ?? 'x'), 100)
    socket.on('error', () => undefined).resume()
    socket.once('close', () => {
      clearInterval(timer)
      resolve((performance.now() - began) / 1000)
    })
  })
}
