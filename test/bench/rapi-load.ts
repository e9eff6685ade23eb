// A client that does little but send: requests are one prepared text, of the answers only status and length are read.
import * as tls from 'node:tls'
import { performance } from 'node:perf_hooks'
import { type Measured, measured } from './measured'

export interface RapiTarget {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
}

/** New connections have a whole handshake each, as those of Ganeti's own clients, or go on with the session of one before. */
export const CONNECTIONS = ['kept', 'new connection each', 'new connection each, session resumed'] as const

export interface RapiLoad {
  readonly path: string
  readonly connections: number
  readonly how: (typeof CONNECTIONS)[number]
  readonly seconds: number
}

export async function loadRapi(target: RapiTarget, load: RapiLoad): Promise<Measured> {
  const started = performance.now()
  const times = await timesOf(target, load)
  return measured(times, performance.now() - started)
}

/** The time of each answer, in milliseconds. */
export async function timesOf(target: RapiTarget, load: RapiLoad): Promise<number[]> {
  const request = requestText(target, { path: load.path, keepAlive: load.how === 'kept' })
  const session = await one(target, request)
  const times: number[] = []
  const until = performance.now() + load.seconds * 1000
  const client = load.how === 'kept' ? keptConnection : newConnections
  const resumed = load.how === 'new connection each' ? undefined : session
  await Promise.all(Array.from({ length: load.connections }, () => client(target, request, until, times, resumed)))
  return times
}

async function keptConnection(target: RapiTarget, request: string, until: number, times: number[]): Promise<void> {
  const connection = await open(target)
  do {
    const begun = performance.now()
    await ask(connection, request)
    times.push(performance.now() - begun)
  } while (performance.now() < until)
  connection.destroy()
}

async function newConnections(
  target: RapiTarget,
  request: string,
  until: number,
  times: number[],
  session?: Buffer,
): Promise<void> {
  while (performance.now() < until) {
    const begun = performance.now()
    await one(target, request, session)
    times.push(performance.now() - begun)
  }
}

/** Asks once, on a connection of its own; how long it took in milliseconds. */
export async function post(target: RapiTarget, path: string, body: object): Promise<number> {
  const text = JSON.stringify(body)
  const head = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`]
  const begun = performance.now()
  await one(target, requestText(target, { path, keepAlive: false }, 'POST', head) + text)
  return performance.now() - begun
}

/** The same for a request without a body. */
export async function get(target: RapiTarget, path: string): Promise<number> {
  const begun = performance.now()
  await one(target, requestText(target, { path, keepAlive: false }))
  return performance.now() - begun
}

/** Sends that many requests in each second, however long the answers take; their times in milliseconds. */
export async function sendAtRate(
  target: RapiTarget,
  pathOf: (n: number) => string,
  perSecond: number,
  seconds: number,
): Promise<number[]> {
  const idle: tls.TLSSocket[] = []
  const times: number[] = []
  const started = performance.now()
  const send = async (path: string) => {
    const begun = performance.now()
    const connection = idle.pop() ?? (await open(target))
    await ask(connection, requestText(target, { path, keepAlive: true }))
    times.push(performance.now() - begun)
    idle.push(connection)
  }
  const sent: Promise<void>[] = []
  for (let n = 0; n < perSecond * seconds; n++) {
    const wait_ms = started + (n * 1000) / perSecond - performance.now()
    if (wait_ms > 0) await new Promise((resolve) => setTimeout(resolve, wait_ms))
    sent.push(send(pathOf(n)))
  }
  await Promise.all(sent)
  for (const connection of idle) connection.destroy()
  return times
}

/** The session, with which another connection can begin. */
async function one(target: RapiTarget, request: string, session?: Buffer): Promise<Buffer | undefined> {
  const connection = await open(target, session)
  let reported: Buffer | undefined
  connection.on('session', (ticket: Buffer) => (reported = ticket))
  await ask(connection, request)
  connection.destroy()
  return reported
}

function open({ host, port }: RapiTarget, session?: Buffer): Promise<tls.TLSSocket> {
  return new Promise((resolve, reject) => {
    const options = { host, port, rejectUnauthorized: false, ...(session && { session }) }
    const socket = tls.connect(options, () => resolve(socket))
    socket.setNoDelay(true)
    socket.once('error', reject)
  })
}

function ask(socket: tls.TLSSocket, request: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let head = ''
    let missing = -1
    let chunked = false
    const end = (error?: Error) => {
      socket.off('data', hear)
      socket.off('error', end)
      socket.off('close', lost)
      if (error) reject(error)
      else resolve()
    }
    const lost = () => end(new Error('the server closed the connection before its answer was complete'))
    const hear = (data: Buffer) => {
      if (chunked) missing = data.toString('latin1').endsWith('\r\n0\r\n\r\n') ? 0 : 1
      else if (missing >= 0) missing -= data.length
      else {
        head += data.toString('latin1')
        const split = head.indexOf('\r\n\r\n')
        if (split === -1) return
        if (!head.startsWith('HTTP/1.1 200')) return end(new Error(`answer: ${head.slice(0, head.indexOf('\r\n'))}`))
        chunked = /transfer-encoding: *chunked/i.test(head)
        if (chunked) missing = 1
        else missing = Number(/content-length: *(\d+)/i.exec(head)?.[1]) - (head.length - split - 4)
      }
      if (missing <= 0) end()
    }
    socket.on('data', hear)
    socket.on('error', end)
    socket.on('close', lost)
    socket.write(request)
  })
}

function requestText(
  { host, user, password }: RapiTarget,
  { path, keepAlive }: { readonly path: string; readonly keepAlive: boolean },
  verb = 'GET',
  more: readonly string[] = [],
): string {
  const credentials = Buffer.from(`${user}:${password}`).toString('base64')
  const lines = [`${verb} ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Basic ${credentials}`, 'Accept: */*']
  return [...lines, ...more, `Connection: ${keepAlive ? 'keep-alive' : 'close'}`, '', ''].join('\r\n')
}
