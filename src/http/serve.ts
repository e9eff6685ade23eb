// A door: it listens, follows its certificate, bounds who comes in, and closes. What it answers is its handler's. It knows nothing of
// clusters.
import {
  createServer as createPlain,
  type IncomingMessage,
  type Server as PlainServer,
  type ServerResponse,
} from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { AccessLevel } from '../lib/access-level'
import { type Clock, noteRequest, type Timer } from '../lib/clock'
import { countRefused } from '../lib/counted-log'
import { clientOf, Crowd } from '../lib/crowd'
import type { Log } from '../lib/log'
import type { Random } from '../lib/random'
import { Shares } from '../lib/shares'
import { followCertificate, keyAndCertificate } from '../lib/tls'
import type { HttpLimits } from '../model/limits/http'
import { logAccess } from './access-log'
import { isTooLong } from './body'
import type { Handler } from './dispatch'
import { OneByOne } from './one-by-one'
import { hangUp, type Refusal, type RefusalWords, refuse, versionRefused } from './refusal'

export interface Door {
  /** Each is listened on. */
  readonly addresses: readonly string[]
  /** One that somebody else may still have: it is tried until it is free. */
  readonly lateAddress?: string
  /** 0 picks a free one. */
  readonly port: number
  /** The file with its key and certificate, which is followed. A door without one is plain HTTP. */
  readonly certificate?: string
  readonly limits: HttpLimits
  readonly log: Log
  readonly clock: Clock
  readonly random: Random
  readonly accessLog: AccessLevel
  /** Answers requests that it finishes itself. */
  readonly handle: Handler
  /** What it says to who reaches no handler. */
  readonly words: RefusalWords
}

export interface Served {
  readonly addresses: readonly AddressInfo[]
  /** Finishes the requests that are being served, then stops. */
  close(): Promise<void>
}

export async function serve(door: Door): Promise<Served> {
  const { log, clock, addresses, lateAddress, limits } = door
  const crowd = crowdOf(door)
  // The session of a connection to one address is good for the others, too. The keys live as long as this process.
  const ticketKeys = Buffer.from(door.random.hex(48), 'hex')
  const oneByOne = new OneByOne(limits.pipelined)
  const handle: Handler = (request, response) => {
    noteRequest()
    oneByOne.begin(request, response, () => admit(door, crowd, request, response))
  }
  const servers = await Promise.all(addresses.map((address) => listen(address, { ...door, ticketKeys }, handle, crowd)))
  const bound = servers.map(addressOf)
  let timer: Timer | undefined
  const listenLate = async () => {
    if (lateAddress === undefined) return
    try {
      servers.push(await listen(lateAddress, { ...door, ticketKeys }, handle, crowd))
    } catch (error) {
      const retry_s = limits.address_retry_s
      log.error({ err: error, address: lateAddress, retry_s }, 'an address cannot be taken yet')
      timer = clock.after(retry_s * 1000, () => void listenLate(), { background: true })
    }
  }
  await listenLate()

  return {
    addresses: bound,
    async close() {
      timer?.cancel()
      await Promise.all(servers.map((server) => stop(server, door)))
    },
  }
}

function admit(door: Door, crowd: Crowd, request: IncomingMessage, response: ServerResponse): unknown {
  const { limits, accessLog: level, log, clock } = door
  logAccess({ level, path_chars: limits.log_path_chars, log, clock }, request, response)
  if (crowd.isBeyond(request.socket)) return hangUp(request.socket, crowded(request.socket, limits), door)
  if (request.httpVersionMajor > 1) return hangUp(request.socket, versionRefused(request.httpVersion), door)
  return door.handle(request, response)
}

/** Counts the connections of all listening addresses together. */
function crowdOf({ clock, log, limits }: Door): Crowd {
  const each = (client: string): number => enoughFor(client, limits) + limits.connections_told
  return new Crowd({
    open: new Shares({ all: limits.connections, each }),
    handshakes: new Shares({ all: limits.connections, each }),
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

/** A door whose listeners share the keys of TLS sessions. */
interface Listening extends Door {
  readonly ticketKeys: Buffer
}

async function listen(address: string, door: Listening, handle: Handler, crowd: Crowd): Promise<Server | PlainServer> {
  const { port, limits } = door
  const server = createListener(door, (request, response) => void handle(request, response))
  crowd.watch(server)
  server.on('clientError', (error: Error, socket: Socket) => refuse(error, socket, door))
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // Who asks before it sends is told at once.
    if (!isTooLong(request, limits)) response.writeContinue()
    void handle(request, response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, () => resolve())
  })
  return server
}

function createListener(
  { certificate, ticketKeys, limits, log, clock }: Listening,
  handle: Handler,
): Server | PlainServer {
  const options = {
    maxHeaderSize: limits.header_bytes,
    headersTimeout: limits.receive_s * 1000,
    requestTimeout: 2 * limits.receive_s * 1000,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: limits.keep_alive_s * 1000,
    // A request without Host is refused by its handler, with a body that says why.
    requireHostHeader: false,
  }
  if (certificate === undefined) return createPlain(options, handle)
  const handshakeTimeout = limits.receive_s * 1000
  const secure = { ...keyAndCertificate(certificate), minVersion: 'TLSv1.2', ticketKeys, handshakeTimeout } as const
  const server = createServer({ ...options, ...secure }, handle)
  followCertificate(server, certificate, () => keyAndCertificate(certificate), log)
  countRefused(server, { clock, log }, limits.tls_refused_every_s)
  return server
}

function addressOf(server: Server | PlainServer): AddressInfo {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  return address
}

/** Connections that still serve a request get a moment to finish it. */
function stop(server: Server | PlainServer, { clock, limits }: Door): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(limits.close_s * 1000, () => server.closeAllConnections())
    server.close(() => {
      timer.cancel()
      resolve()
    })
    server.closeIdleConnections()
  })
}
