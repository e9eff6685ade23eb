// The application of the remote API.
import * as path from 'node:path'
import { routes } from '../../generated/rapi-routes'
import { type AccessLogOptions, logRequests } from '../../http/access-log'
import { type Application, createApplication, type Middleware } from '../../http/application'
import { Bodies } from '../../http/body'
import { createDispatcher } from '../../http/dispatch'
import { documentation, documentationHeaders } from '../../http/documentation'
import { identifyBy, LoginStrategy } from '../../http/passport'
import type { PatternRoute } from '../../http/route-tree'
import { securityHeaders } from '../../http/security-headers'
import { showSite } from '../../http/show-site'
import { forReaders } from '../../http/small-page'
import type { Files } from '../../lib/files'
import type { Random } from '../../lib/random'
import { HTTP_LIMITS } from '../../model/limits/http'
import { ganetiApi } from './api'
import { passwordsOf } from './auth'
import type { RapiServices } from './context'
import { LoginThrottle } from './login-throttle'
import { RapiMetrics, serveMetrics } from './metrics'
import type { UsersFile } from './users'
import { v3Api } from './v3/api'
import { consoleRoute } from './v3/console-socket'
import { ConsoleTickets } from './v3/console-tickets'
import { logins, required } from './v3/identity'
import { objectRoutes } from './v3/object-routes'
import { Sessions } from './v3/sessions'

export interface RapiApplicationOptions extends RapiServices, AccessLogOptions {
  readonly random: Random
  readonly files: Files
  /** Default true; false restores Ganeti's reads without login. */
  readonly requireAuthentication?: boolean
}

export function rapiApplication(options: RapiApplicationOptions, users: UsersFile): Application {
  const { clock, log, random, files, requireAuthentication = true } = options
  const metrics = new RapiMetrics(clock)
  const master = metrics.measured(options.master)
  const { gantry } = master
  const turns = new LoginThrottle(clock, log)
  const passwords = passwordsOf(users, turns)
  const sessions = new Sessions({ clock, random })
  const services = { master, clock, log }
  const bodies = new Bodies(HTTP_LIMITS)

  const app = createApplication()
  app.use(logRequests(options, HTTP_LIMITS))
  app.use(metrics.observe)
  app.get(['/', '/ui'], forReaders, redirect('/ui/'))
  app.get(['/3', '/3/'], forReaders, redirect('/docs/'))
  app.use('/ui', securityHeaders(), showSite({ folder: CONSOLE, files, random }))
  app.use('/docs', documentationHeaders, documentation({ title: 'Gantry remote API', file: CONTRACT }))
  if (gantry !== undefined) {
    const identify = required(identifyBy(logins({ gantry, users, passwords, turns, sessions })))
    app.get('/metrics', serveMetrics({ metrics, gantry, identify, log }))
    const tickets = new ConsoleTickets({ clock, random })
    const v3 = v3Api(V3_ROUTES, { ...services, gantry, identify, sessions, tickets, users })
    app.use(below('/3/', createDispatcher(v3, bodies)))
  }
  const identify = identifyBy([new LoginStrategy('basic', passwords)])
  app.use(createDispatcher(ganetiApi(GANETI_ROUTES, { ...services, identify, requireAuthentication }), bodies))
  return app
}

const isV3 = ({ path }: PatternRoute): boolean => path.startsWith('/3/')
const GANETI_ROUTES = routes.filter((route) => !isV3(route))
const V3_ROUTES = [...routes.filter(isV3), ...objectRoutes, consoleRoute]

/** The paths are right from src/ and from dist/. */
const CONTRACT = path.join(__dirname, '../../../openapi/rapi.json')
const CONSOLE = path.join(__dirname, '../../../ui/dist')

const redirect =
  (location: string): Middleware =>
  (_request, response) =>
    response.writeHead(302, { Location: location, 'Content-Length': 0 }).end()

/** The part gets the whole address, which its routes have, too. */
const below =
  (start: string, part: Middleware): Middleware =>
  (request, response, next) =>
    request.url?.startsWith(start) ? part(request, response, next) : next()
