// The RAPI daemon: Ganeti's remote API over HTTPS, our own beside it, and their documentation. It owns nothing: it
// translates HTTP to the Master interface and back. It may use services, opcodes and the wire calls, but not the
// configuration, queue or nodes.
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as path from 'node:path'
import { routes } from '../../generated/rapi-routes'
import { Bodies } from '../../http/body'
import { createDispatcher, type Handler } from '../../http/dispatch'
import { showPages } from '../../http/show-pages'
import { showSite } from '../../http/show-site'
import { serve } from '../../http/serve'
import type { AccessLevel } from '../../lib/access-level'
import type { Clock } from '../../lib/clock'
import type { Files } from '../../lib/files'
import type { Log } from '../../lib/log'
import type { OwnFigures } from '../../lib/own-figures'
import type { Paths } from '../../lib/paths'
import type { Random } from '../../lib/random'
import type { CertificateFiles } from '../../lib/tls'
import { HTTP_LIMITS } from '../../model/limits/http'
import type { Master } from '../../rpc/luxi/master'
import type { GantryMaster } from '../../rpc/luxi/gantry-calls'
import { ganetiApi } from './api'
import { basicAuthenticator } from './auth'
import { REFUSAL_WORDS } from './errors'
import { LoginTurns } from './login-turns'
import { RapiMetrics, serveMetrics } from './metrics'
import { UsersFile } from './users'
import { v3Api } from './v3/api'
import { consoleRoute } from './v3/console-socket'
import { ConsoleTickets } from './v3/console-tickets'
import { createIdentify } from './v3/identity'
import { objectRoutes } from './v3/object-routes'
import { Sessions } from './v3/sessions'

export interface RapiOptions {
  paths: Paths
  master: Master
  log: Log
  clock: Clock
  random: Random
  files: Files
  /** The addresses to listen on. */
  addresses: readonly string[]
  /**
   * The cluster's own address in a virtual cluster. An old master that hangs may still have it, so the daemon retries
   * until it is free.
   */
  clusterAddress?: string
  /** 0 chooses a free port. */
  port: number
  /** Default true; false restores Ganeti's reads without login. */
  requireAuthentication?: boolean
  /** Default `changes`. */
  accessLog?: AccessLevel
  /** Default: the cluster's file, which has both. `none` is plain HTTP, for a proxy on this machine. */
  certificate?: CertificateFiles | 'none'
  /** Connections at once; default `HTTP_LIMITS.connections`. */
  connections?: number | undefined
  /** Default: the cluster's users file. */
  usersFile?: string
}

export interface Rapi {
  readonly addresses: readonly AddressInfo[]
  /** Reads the users again, on SIGHUP. A new certificate is noticed without it. */
  reload(): void
  /** Finishes running requests, then stops. */
  close(): Promise<void>
  tell(): OwnFigures
}

export async function startRapi(options: RapiOptions): Promise<Rapi> {
  const {
    paths,
    log,
    clock,
    random,
    files,
    addresses,
    port,
    clusterAddress: lateAddress,
    accessLog = 'changes',
    certificate = { key: paths.rapiCert, cert: paths.rapiCert },
    connections = HTTP_LIMITS.connections,
  } = options
  const users = new UsersFile(options.usersFile ?? paths.rapiUsers, { files, random, log })
  users.refresh()
  const served = await serve({
    ...{ addresses, port, log, clock, random, files, accessLog, limits: { ...HTTP_LIMITS, connections } },
    ...(lateAddress !== undefined && { lateAddress }),
    certificate: certificate === 'none' ? undefined : certificate,
    handle: createHandler(options, users),
    websockets: true,
    words: REFUSAL_WORDS,
  })
  return { ...served, reload: () => users.refresh(true) }
}

/** Finds the handler for an address: documentation, metrics, /3, or Ganeti's API for everything else. */
function createHandler(rapi: RapiOptions, users: UsersFile): Handler {
  const { clock, log, requireAuthentication = true } = rapi
  const metrics = new RapiMetrics(clock)
  const master = metrics.measured(rapi.master)
  const { gantry } = master
  const turns = new LoginTurns(clock, log)
  const authenticator = basicAuthenticator(users, turns)
  const services = { master, clock, log }
  const bodies = new Bodies(HTTP_LIMITS)
  const ganetiRoutes = routes.filter(({ path }) => !isV3(path))
  const ganeti = createDispatcher(
    ganetiApi(ganetiRoutes, { ...services, authenticator, requireAuthentication }),
    bodies,
  )
  const ours = gantry && openV3(gantry)
  const pages = showPages({ title: 'Gantry remote API', file: CONTRACT })
  const console = showSite({ folder: CONSOLE, files: rapi.files, random: rapi.random })

  function openV3(gantry: GantryMaster): { v3: Handler; measures: Handler } {
    const sessions = new Sessions({ clock, random: rapi.random })
    const identify = createIdentify({ gantry, users, passwords: authenticator, turns, sessions })
    const tickets = new ConsoleTickets({ clock, random: rapi.random })
    const v3Routes = [...routes.filter(({ path }) => isV3(path)), ...objectRoutes, consoleRoute]
    return {
      v3: createDispatcher(v3Api(v3Routes, { ...services, gantry, identify, sessions, tickets, users }), bodies),
      measures: (request, response) => serveMetrics({ metrics, gantry, identify, log }, request, response),
    }
  }

  return (request, response, accept) => {
    metrics.observe(request, response)
    const url = request.url ?? ''
    const elsewhere = forReader(request)
    if (elsewhere !== undefined) return void response.writeHead(302, { Location: elsewhere, 'Content-Length': 0 }).end()
    if (/^\/ui([/?]|$)/.test(url)) return console(request, response)
    if (/^\/docs([/?]|$)/.test(url)) return pages(request, response)
    if (ours !== undefined && /^\/metrics(\?|$)/.test(url)) return ours.measures(request, response)
    return ours !== undefined && isV3(url) ? ours.v3(request, response, accept) : ganeti(request, response)
  }
}

/** The path is right from src/ and from dist/. */
const CONTRACT = path.join(__dirname, '../../../openapi/rapi.json')
const CONSOLE = path.join(__dirname, '../../../ui/dist')

/** Our own API; everything else is Ganeti's. */
const isV3 = (path: string): boolean => path.startsWith('/3/')

/** Where browsers are redirected. Programs, which do not ask for HTML, get the same as always. */
function forReader({ method, url = '', headers }: IncomingMessage): string | undefined {
  if (method !== 'GET' || !/\btext\/html\b/.test(headers.accept ?? '')) return undefined
  if (/^\/3\/?(\?|$)/.test(url)) return '/docs/'
  return /^\/(ui)?(\?|$)/.test(url) ? '/ui/' : undefined
}
