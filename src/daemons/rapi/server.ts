// The RAPI daemon: Ganeti's remote API over HTTPS, and its documentation. It owns nothing: it translates HTTP to the Master
// interface and back. It may use services, opcodes and the wire calls; it may not touch configuration, queue or nodes.
import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Express } from 'express'
import { routes } from '../../generated/routes'
import { type Clock, noteRequest, type Timer } from '../../lib/clock'
import { countRefused } from '../../lib/counted-log'
import { clientOf, Crowd } from '../../lib/crowd'
import type { Log } from '../../lib/log'
import type { Paths } from '../../lib/paths'
import { systemRandom } from '../../lib/random'
import { Shares } from '../../lib/shares'
import { followCertificate } from '../../lib/tls'
import {
  RAPI_CLOSE_S,
  RAPI_CONNECTIONS_LOOPBACK_MAX,
  RAPI_CONNECTIONS_MAX,
  RAPI_CONNECTIONS_PER_CLIENT_MAX,
  RAPI_CONNECTIONS_TOLD,
  RAPI_HEADER_BYTES_MAX,
  RAPI_KEEP_ALIVE_S,
  RAPI_RECEIVE_S,
  RETRY_AFTER_S,
  CLUSTER_ADDRESS_RETRY_S,
} from '../../model/limits/rapi'
import { TLS_REFUSED_EVERY_S } from '../../model/limits/wires'
import type { AccessLevel } from '../../model/constants/daemons'
import type { Master } from '../../rpc/luxi/calls'
import type { GantryMaster } from '../../rpc/luxi/gantry'
import { logAccess } from './access-log'
import { basicAuthenticator } from './auth'
import { isTooLong } from './body'
import { EXPLAIN } from './errors'
import { LoginTurns } from './login-turns'
import { RapiMetrics, serveMetrics } from './metrics'
import { OneByOne } from './one-by-one'
import { hangUp, type Refusal, refuse, versionRefused } from './refusal'
import { createRouter } from './router'
import { UsersFile } from './users'
import { createIdentify } from './v3/identity'
import { objectRoutes } from './v3/object-routes'
import { createV3Router } from './v3/router'

export interface RapiOptions {
  paths: Paths
  master: Master
  log: Log
  clock: Clock
  /** Each is listened on. */
  addresses: readonly string[]
  /** The cluster's own address in a virtual cluster: an old master that hangs may still have it, and it is tried until it is free. */
  clusterAddress?: string
  /** 0 picks a free one. */
  port: number
  /** Default true; false restores Ganeti's reads without login. */
  requireAuthentication?: boolean
  /** Default `changes`. */
  accessLog?: AccessLevel
  /** Default: the cluster's users file. */
  usersFile?: string
}

export interface Rapi {
  readonly addresses: readonly AddressInfo[]
  /** Reads the users anew: what SIGHUP asks for. A new certificate is noticed without it. */
  reload(): void
  /** Finishes the requests that are being served, then stops. */
  close(): Promise<void>
}

export async function startRapi(options: RapiOptions): Promise<Rapi> {
  const { log, clock, addresses, port } = options
  const users = new UsersFile(options.usersFile ?? options.paths.rapiUsers, log)
  users.refresh()
  const crowd = crowdOf(options)
  const door = createDoors(options, users, crowd)
  const oneByOne = new OneByOne()
  const handle: Door = (request, response) => {
    noteRequest()
    oneByOne.begin(request, response, () => door(request, response))
  }
  const servers = await Promise.all(addresses.map((address) => listen(address, port, options, handle, crowd)))
  const bound = servers.map(addressOf)
  let timer: Timer | undefined
  const { clusterAddress } = options
  const listenAsCluster = async () => {
    if (clusterAddress === undefined) return
    try {
      servers.push(await listen(clusterAddress, port, options, handle, crowd))
    } catch (error) {
      log.error({ err: error, retry_s: CLUSTER_ADDRESS_RETRY_S }, 'the address of the cluster cannot be taken')
      timer = clock.after(CLUSTER_ADDRESS_RETRY_S * 1000, () => void listenAsCluster(), { background: true })
    }
  }
  await listenAsCluster()

  return {
    addresses: bound,
    reload() {
      users.refresh(true)
    },
    async close() {
      timer?.cancel()
      await Promise.all(servers.map((server) => stop(server, clock)))
    },
  }
}

/** Finds the handler of an address: documentation, metrics, /3, or Ganeti's API for everything else. */
function createDoors(rapi: RapiOptions, users: UsersFile, crowd: Crowd): Door {
  const { clock, log, requireAuthentication = true, accessLog = 'changes', ...options } = rapi
  const metrics = new RapiMetrics(clock)
  const master = metrics.measured(options.master)
  const { gantry } = master
  const turns = new LoginTurns(clock, log)
  const authenticator = basicAuthenticator(users, turns)
  const services = { master, clock, log }
  const ganeti = routes.filter(({ path }) => !isV3(path))
  const router = createRouter(ganeti, { ...services, authenticator, requireAuthentication })
  const ours = gantry && openV3(gantry)

  function openV3(gantry: GantryMaster): { v3: Door; measures: Door } {
    const identify = createIdentify({ gantry, users, passwords: authenticator, turns })
    const v3Routes = [...routes.filter(({ path }) => isV3(path)), ...objectRoutes]
    return {
      v3: createV3Router(v3Routes, { ...services, gantry, identify }),
      measures: (request, response) => serveMetrics({ metrics, gantry, identify, log }, request, response),
    }
  }

  return (request, response) => {
    metrics.observe(request, response)
    logAccess({ level: accessLog, log, clock }, request, response)
    const url = request.url ?? ''
    if (crowd.isBeyond(request.socket)) return hangUp(request.socket, crowded(request.socket), clock)
    if (request.httpVersionMajor > 1) return hangUp(request.socket, versionRefused(request.httpVersion), clock)
    if (isForReader(request)) return void response.writeHead(302, { Location: '/docs/', 'Content-Length': 0 }).end()
    if (/^\/docs([/?]|$)/.test(url)) return showPage(request, response)
    if (ours !== undefined && /^\/metrics(\?|$)/.test(url)) return ours.measures(request, response)
    return ours !== undefined && isV3(url) ? ours.v3(request, response) : router(request, response)
  }
}

/** Counts the connections of all listening addresses together. */
function crowdOf({ clock, log }: RapiOptions): Crowd {
  const each = (client: string): number => enoughFor(client) + RAPI_CONNECTIONS_TOLD
  return new Crowd({
    open: new Shares({ all: RAPI_CONNECTIONS_MAX, each }),
    handshakes: new Shares({ all: RAPI_CONNECTIONS_MAX, each }),
    enough: enoughFor,
    ...{ clock, log, every_s: TLS_REFUSED_EVERY_S },
  })
}

const enoughFor = (client: string): number =>
  LOOPBACK.test(client) ? RAPI_CONNECTIONS_LOOPBACK_MAX : RAPI_CONNECTIONS_PER_CLIENT_MAX

const LOOPBACK = /^(127\.|0:0:0:0:)/

type Door = (request: IncomingMessage, response: ServerResponse) => unknown

/** The API of our own; everything else is Ganeti's. */
const isV3 = (path: string): boolean => path.startsWith('/3/')

/** The keys live as long as this process, so a TLS session does not outlive it. */
const ticketKeys = Buffer.from(systemRandom.hex(48), 'hex')

async function listen(
  address: string,
  port: number,
  { paths, log, clock }: Pick<RapiOptions, 'paths' | 'log' | 'clock'>,
  handle: Door,
  crowd: Crowd,
): Promise<Server> {
  const server = createServer(
    {
      ...certificate(paths),
      minVersion: 'TLSv1.2',
      // The session of a connection to one address is good for the others, too.
      ticketKeys,
      maxHeaderSize: RAPI_HEADER_BYTES_MAX,
      headersTimeout: RAPI_RECEIVE_S * 1000,
      requestTimeout: 2 * RAPI_RECEIVE_S * 1000,
      handshakeTimeout: RAPI_RECEIVE_S * 1000,
      connectionsCheckingInterval: 1000,
      keepAliveTimeout: RAPI_KEEP_ALIVE_S * 1000,
      // A request without Host is refused by the router, with a body that says why.
      requireHostHeader: false,
    },
    (request, response) => void handle(request, response),
  )
  crowd.watch(server)
  followCertificate(server, paths.rapiCert, () => certificate(paths), log)
  server.on('clientError', (error, socket: Socket) => refuse(error, socket, clock))
  countRefused(server, { clock, log }, TLS_REFUSED_EVERY_S)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    // Who asks before it sends is told at once.
    if (!isTooLong(request)) response.writeContinue()
    void handle(request, response)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, () => resolve())
  })
  return server
}

/** Key and certificate are in one file. */
function certificate(paths: Paths): { key: Buffer; cert: Buffer } {
  const pem = readFileSync(paths.rapiCert)
  return { key: pem, cert: pem }
}

let pages: Express | undefined

/** The documentation is loaded with its first reader: most daemons never show it. */
function showPage(request: IncomingMessage, response: ServerResponse): void {
  if (pages === undefined) {
    const { createPages }: typeof import('./pages') = require('./pages')
    pages = createPages()
  }
  pages(request, response)
}

/** People who look what is there are shown the documentation; programs, which do not ask for HTML, get what they always got. */
const isForReader = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && /^\/(3\/?)?(\?|$)/.test(url) && /\btext\/html\b/.test(headers.accept ?? '')

function crowded(socket: Socket): Refusal {
  const client = clientOf(socket)
  return {
    code: 503,
    message: `${client} has ${enoughFor(client)} connections already; close some, and try again in ${RETRY_AFTER_S} s`,
    explain: EXPLAIN[503] ?? '',
  }
}

function addressOf(server: Server): AddressInfo {
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server does not listen on a port')
  return address
}

/** Connections that still serve a request get a moment to finish it. */
function stop(server: Server, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.after(RAPI_CLOSE_S * 1000, () => server.closeAllConnections())
    server.close(() => {
      timer.cancel()
      resolve()
    })
    server.closeIdleConnections()
  })
}
