// The door of the maintenance daemon. As in Ganeti, everybody may look. Changes need a login, as in the remote API.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import * as path from 'node:path'
import { routes } from '../../generated/maintd-routes'
import { noteAccess } from '../../http/access-log'
import { Bodies } from '../../http/body'
import { createDispatcher, dropLastSlashes, type Handler } from '../../http/dispatch'
import { jsonApi } from '../../http/json-api'
import type { Problem } from '../../http/problem'
import { serve } from '../../http/serve'
import { showPages } from '../../http/show-pages'
import type { AccessLevel } from '../../lib/access-level'
import type { Clock } from '../../lib/clock'
import type { Files } from '../../lib/files'
import type { Log } from '../../lib/log'
import type { Random } from '../../lib/random'
import type { CertificateFiles } from '../../lib/tls'
import type { KeeperFigures } from '../../maintenance/keeper'
import { MAINTD_HTTP_LIMITS } from '../../model/limits/maintenance'
import type { MaintenanceView } from '../../model/maintenance'
import type { Identity } from '../../rpc/luxi/gantry'
import type { GantryMaster } from '../../rpc/luxi/gantry-calls'
import { MaintdContext } from './context'
import { metricsOf } from './metrics'
import { pageOf } from './page'

export interface MaintdOptions {
  readonly log: Log
  readonly clock: Clock
  readonly random: Random
  readonly files: Files
  readonly addresses: readonly string[]
  /** 0 chooses a free port. */
  readonly port: number
  readonly accessLog: AccessLevel
  /** The file of the remote API's certificate. */
  readonly certificate: CertificateFiles
  readonly gantry: GantryMaster
  readonly figures: KeeperFigures
  view(): MaintenanceView
  /** Rejects an invalid login; only called if there is one. */
  identify(request: IncomingMessage): Promise<Identity>
  problemOf(error: unknown): Problem
  /** How to log in. */
  readonly challenge: string
}

export interface Maintd {
  readonly addresses: readonly AddressInfo[]
  close(): Promise<void>
}

export function startMaintd(options: MaintdOptions): Promise<Maintd> {
  const { addresses, port, log, clock, random, files, accessLog, certificate, problemOf } = options
  return serve({
    ...{ addresses, port, log, clock, random, files, accessLog, certificate, limits: MAINTD_HTTP_LIMITS },
    handle: createHandler(options),
    words: { type: 'application/problem+json', body: (error) => Buffer.from(JSON.stringify(problemOf(error))) },
  })
}

function createHandler(options: MaintdOptions): Handler {
  const { clock, gantry, view, challenge, problemOf } = options
  const api = jsonApi<Identity | undefined, MaintdContext>(
    { clock, limits: MAINTD_HTTP_LIMITS, challenge, problemOf },
    {
      routes,
      async identify(request) {
        if (request.headers.authorization === undefined) return undefined
        const identity = await options.identify(request)
        noteAccess(request, { user: identity.user, ...(identity.token !== null && { token: identity.token }) })
        return identity
      },
      nameOf: (identity) => identity?.user,
      context: ({ caller }) => new MaintdContext(view, gantry, caller),
      replyOf: ({ reply }) => reply,
    },
  )
  const requests = createDispatcher(api, new Bodies(MAINTD_HTTP_LIMITS))
  const pages = showPages({ title: 'Gantry maintenance', file: CONTRACT })
  return (request, response) => {
    if (/^\/docs([/?]|$)/.test(request.url ?? '')) return pages(request, response)
    dropLastSlashes(request)
    const url = request.url ?? ''
    if (isForReader(request)) return show(response, pageOf(view()), 'text/html; charset=utf-8')
    if (/^\/metrics(\?|$)/.test(url)) return metricsOf(options).then(({ text, type }) => show(response, text, type))
    return requests(request, response)
  }
}

/** The path is right from src/ and from dist/. */
const CONTRACT = path.join(__dirname, '../../../openapi/maintd.json')

/** People get a page. Programs, which do not ask for HTML, get the same as always. */
const isForReader = ({ method, url = '', headers }: IncomingMessage): boolean =>
  method === 'GET' && /^\/(\?|$)/.test(url) && /\btext\/html\b/.test(headers.accept ?? '')

/** The page contains its styles, and loads nothing else. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'"

function show(response: ServerResponse, text: string, type: string): void {
  const data = Buffer.from(text)
  const safety = { 'Content-Security-Policy': POLICY, 'X-Content-Type-Options': 'nosniff', 'Cache-Control': 'no-store' }
  response.writeHead(200, { 'Content-Type': type, 'Content-Length': data.length, ...safety }).end(data)
}
