// Our own API below /3. The master gets the identity with each call, and decides what the caller may do.
import { noteAccess } from '../../../http/access-log'
import type { Api, Route } from '../../../http/dispatch'
import { type JsonDoor, jsonApi, type Reply, sendJson, sendProblem } from '../../../http/json-api'
import { HTTP_LIMITS } from '../../../model/limits/http'
import type { GantryMaster } from '../../../rpc/luxi/gantry-calls'
import { RapiContext, type RapiServices } from '../context'
import { AnsweredByJob } from '../errors'
import type { ConsoleTickets } from './console-tickets'
import type { IdentifyCaller } from './identity'
import { CHALLENGE, problemOf } from './problem'
import type { UsersFile } from '../users'
import { type Caller, CSRF_HEADER, type Sessions } from './sessions'

interface V3Options extends RapiServices {
  readonly gantry: GantryMaster
  readonly identify: IdentifyCaller
  readonly sessions: Sessions
  readonly tickets: ConsoleTickets
  readonly users: Pick<UsersFile, 'list'>
}

export function v3Api(routes: readonly Route<RapiContext>[], options: V3Options): Api<Caller, RapiContext> {
  const { gantry, clock, log, sessions, tickets, users: file } = options
  const users = () => file.list()
  const door: JsonDoor = {
    ...{ clock, limits: HTTP_LIMITS, challenge: CHALLENGE },
    problemOf: (error) => problemOf(error, log),
  }
  const api = jsonApi<Caller, RapiContext>(door, {
    routes,
    async identify(request, response) {
      const caller = await options.identify(request, response)
      const { identity } = caller
      noteAccess(request, { user: identity.user, ...(identity.token !== null && { token: identity.token }) })
      return caller
    },
    nameOf: ({ identity }) => identity.user,
    context(requested) {
      const reply: Reply = { status: 200, headers: {} }
      const { caller } = requested
      return new RapiContext(options, requested, undefined, {
        ...{ caller, identity: caller.identity, sessions, tickets, gantry, users, reply },
      })
    },
    replyOf,
  })
  return {
    ...api,
    answer(requested, result, context) {
      const [, job] = /^\/3\/jobs\/(\d+)$/.exec(replyOf(context).headers['Location'] ?? '') ?? []
      if (job !== undefined) noteAccess(requested.request, { job: Number(job) })
      return api.answer(requested, result, context)
    },
    refuse(request, response, error) {
      if (!(error instanceof AnsweredByJob)) {
        // A browser would answer the other challenge with its own login window, which would hide the console's.
        const isPage = request.headers[CSRF_HEADER] !== undefined
        return void sendProblem(response, error, isPage ? { ...door, challenge: 'Session realm="Gantry"' } : door)
      }
      noteAccess(request, { job: error.job })
      sendJson(request, response, accepted(error), { id: error.job }, door)
    },
  }
}

function replyOf({ v3 }: RapiContext): Reply {
  if (v3 === undefined) throw new Error('a controller of /3 serves a request to another door')
  return v3.reply
}

const accepted = ({ job }: AnsweredByJob): Reply => ({ status: 202, headers: { Location: `/3/jobs/${job}` } })
