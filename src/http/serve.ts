// A door: listens, follows its certificate, limits its clients, and closes. Its application answers. It knows nothing of
// clusters.
import type { Files } from '../lib/files'
import {
  createServer as createPlain,
  type IncomingMessage,
  type RequestListener,
  type Server as PlainServer,
  type ServerResponse,
} from 'node:http'
import type { Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { type Clock, noteRequest, type Timer } from '../lib/clock'
import { countRefused } from '../lib/counted-log'
import { clientOf, ConnectionLimiter } from '../lib/net/connection-limiter'
import type { Log } from '../lib/log'
import type { SelfMetrics } from '../lib/self-metrics'
import type { Random } from '../lib/random'
import { systemFailure } from '../lib/system-failure'
import { Quota } from '../lib/net/quota'
import { type CertificateFiles, followCertificate, keyAndCertificate } from '../lib/tls'
import type { HttpLimits } from '../model/limits/http'
import type { Middleware } from './application'
import { isTooLong } from './body'
import { pathOf } from './dispatch'
import { PipelineQueue } from './pipeline-queue'
import { hangUp, type Refusal, type RefusalWords, refuse, versionRefused } from './refusal'
import { upgrade } from './upgrade'
import type { Websockets } from './websockets'

export interface Door {
  /** Addresses of this machine, or paths of Unix sockets. The door listens on each. */
  readonly addresses: readonly string[]
  /** An address that another machine may still have: the door retries until it is free. */
  readonly lateAddress?: string
  /** 0 chooses a free port. */
  readonly port: number
  /** The files of its key and certificate, which are reloaded when they change. Without them the door is plain HTTP. */
  readonly certificate?: CertificateFiles | undefined
  readonly files: Files
  readonly limits: HttpLimits
  readonly log: Log
  readonly clock: Clock
  readonly random: Random
  readonly application: Middleware
  /** The words for requests that the application does not answer. */
  readonly words: RefusalWords
  /** Whether the application has websockets. Otherwise requests for one are answered like plain requests. */
  readonly websockets?: boolean
}

export interface Served {
  readonly addresses: readonly AddressInfo[]
  /** Finishes running requests, then stops. */
  close(): Promise<void>
  tell(): SelfMetrics
}

export async function serve(door: Door): Promise<Served> {
  const { log, clock, addresses, lateAddress, limits } = door
  const room = openRoom(door)
  const servers = await Promise.all(addresses.map((address) => listen(address, room)))
  const bound = servers.flatMap(addressOf)
  let timer: Timer | undefined
  let late = Promise.resolve()
  let isLate = false
  let closing = false
  const listenLate = async (address: string) => {
    try {
      servers.push(await listen(address, room))
    } catch (error) {
      if (closing) return
      const retry_s = limits.address_retry_s
      if (!isLate) log.error({ err: error, address, retry_s }, 'an address cannot be taken yet')
      isLate = true
      timer = clock.after(retry_s * 1000, () => void (late = listenLate(address)), { background: true })
    }
  }
  if (lateAddress !== undefined) await listenLate(lateAddress)

  return {
    addresses: bound,
    tell: () => ({ requests: room.requests }),
    async close() {
      closing = true
      timer?.cancel()
      // The late address may be about to be bound.
      await late
      room.websockets?.close()
      await Promise.all(servers.map((server) => stop(server, room)))
    },
  }
}

/** What all addresses of a door share. */
interface Room {
  readonly door: Door
  readonly crowd: ConnectionLimiter
  readonly oneByOne: PipelineQueue
  /** A TLS session of one address is valid for the others too. The keys live as long as this process. */
  readonly ticketKeys: Buffer
  readonly websockets: Websockets | undefined
  /** Requests received since the start. */
  requests: number
}

function openRoom(door: Door): Room {
  const ticketKeys = Buffer.from(door.random.hex(48), 'hex')
  const websockets = door.websockets === true ? openWebsockets(door) : undefined
  const oneByOne = new PipelineQueue(door.limits.pipelined)
  return { door, crowd: crowdOf(door), oneByOne, ticketKeys, websockets, requests: 0 }
}

/** Loaded only for doors with websockets. */
function openWebsockets(door: Door): Websockets {
  const { Websockets }: typeof import('./websockets') = require('./websockets')
  return new Websockets(door)
}

function admit(room: Room, request: IncomingMessage, response: ServerResponse): void {
  const { door, crowd } = room
  room.requests++
  if (crowd.isBeyond(request.socket)) return hangUp(request.socket, crowded(request.socket, door.limits), door)
  if (request.httpVersionMajor > 1) return hangUp(request.socket, versionRefused(request.httpVersion), door)
  door.application(request, response, (error) => unanswered(door, request, response, error))
}

/** Whoever asks gets an answer, also when the application fails, or has none. */
function unanswered({ words, log }: Door, request: IncomingMessage, response: ServerResponse, error: unknown): void {
  const refusal: Refusal = error ? { status: 500, message: systemFailure(error) ?? UNFORESEEN } : NOT_THERE
  if (error)
    log.error(
      { err: error, method: request.method, path: pathOf(request) },
      'a request was not answered because of a defect',
    )
  // A client that has the beginning of an answer, or a websocket, can only be told by hanging up.
  if (response.headersSent || response.socket === null) return void request.socket.destroy()
  const body = words.body(refusal)
  response
    .writeHead(refusal.status, { 'Content-Type': words.type, 'Content-Length': body.length, Connection: 'close' })
    .end(body)
}

const NOT_THERE: Refusal = { status: 404, message: 'Not Found' }

const UNFORESEEN = 'Internal error; the log of this daemon has the details'

/** Counts the connections of all listening addresses together. */
function crowdOf({ clock, log, limits }: Door): ConnectionLimiter {
  const each = (client: string): number => enoughFor(client, limits) + limits.connections_told
  return new ConnectionLimiter({
    open: new Quota({ all: limits.connections, each }),
    handshakes: new Quota({ all: limits.connections, each }),
    enough: (client) => enoughFor(client, limits),
    ...{ clock, log, every_s: limits.tls_refused_every_s },
  })
}

const enoughFor = (client: string, limits: HttpLimits): number =>
  LOOPBACK.test(client) ? limits.connections_loopback : limits.connections_per_client

const LOOPBACK = /^(127\.|0:0:0:0:)/

function crowded(socket: Socket, limits: HttpLimits): Refusal {
  const client = clientOf(socket)
  const there = `${client} has ${enoughFor(client, limits)} connections already`
  return { status: 503, message: `${there}; close some, and try again in ${limits.retry_after_s} s` }
}

async function listen(address: string, room: Room): Promise<Server | PlainServer> {
  const { door, crowd, oneByOne } = room
  const handle: RequestListener = (request, response) => {
    noteRequest()
    oneByOne.begin(request, response, () => admit(room, request, response))
  }
  const server = createListener(room, handle)
  crowd.watch(server)
  server.on('clientError', (error: Error, socket: Socket) => refuse(error, socket, door))
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // A client that asks before it sends the body is answered at once.
    if (!isTooLong(request, door.limits)) response.writeContinue()
    handle(request, response)
  })
  if (room.websockets !== undefined) hearUpgrades(server, room, room.websockets)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    const where = address.startsWith('/') ? { path: address } : { port: door.port, host: address }
    server.listen(where, () => resolve())
  })
  return server
}

/** Without this listener Node takes requests for another protocol as plain ones. */
function hearUpgrades(server: Server | PlainServer, room: Room, websockets: Websockets): void {
  const handle: RequestListener = (request, response) => admit(room, request, response)
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    noteRequest()
    // Otherwise answers to earlier requests would be mixed into it.
    if (room.oneByOne.isBusy(socket)) return void socket.destroy()
    upgrade({ door: room.door, websockets, handle }, request, socket, head)
  })
}

function createListener({ door, ticketKeys }: Room, handle: RequestListener): Server | PlainServer {
  const { certificate, limits, log, clock, files } = door
  const options = {
    maxHeaderSize: limits.header_bytes,
    headersTimeout: limits.receive_s * 1000,
    requestTimeout: 2 * limits.receive_s * 1000,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: limits.keep_alive_s * 1000,
    // The application refuses a request without Host, with a body that says why.
    requireHostHeader: false,
  }
  if (certificate === undefined) return createPlain(options, handle)
  const handshakeTimeout = limits.receive_s * 1000
  const secure = {
    ...keyAndCertificate(files, certificate),
    minVersion: 'TLSv1.2',
    ticketKeys,
    handshakeTimeout,
  } as const
  // A plain door does not need it.
  const { createServer } = process.getBuiltinModule('node:https')
  const server = createServer({ ...options, ...secure }, handle)
  followCertificate(
    files,
    server,
    [certificate.cert, certificate.key],
    () => keyAndCertificate(files, certificate),
    log,
  )
  countRefused(server, { clock, log }, limits.tls_refused_every_s)
  return server
}

/** Empty for a Unix socket. */
function addressOf(server: Server | PlainServer): AddressInfo[] {
  const address = server.address()
  if (address === null) throw new Error('the server does not listen')
  return typeof address === 'string' ? [] : [address]
}

/** Running requests get a moment to finish. */
function stop(server: Server | PlainServer, { door: { clock, limits }, websockets }: Room): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(limits.close_s * 1000, () => {
      websockets?.terminate()
      server.closeAllConnections()
    })
    server.close(() => {
      timer.cancel()
      resolve()
    })
    server.closeIdleConnections()
  })
}
