// Our own API below /3. What the caller may do is decided by the master, which gets the identity with each call.
import { noteAccess } from '../../../http/access-log'
import type { Api, Route } from '../../../http/dispatch'
import { type JsonDoor, jsonApi, type Reply, sendJson } from '../../../http/json-api'
import { HTTP_LIMITS } from '../../../model/limits/http'
import type { Identity } from '../../../rpc/luxi/gantry'
import type { GantryMaster } from '../../../rpc/luxi/gantry-calls'
import { RapiContext, type RapiServices, type V3Request } from '../context'
import { AnsweredByJob } from '../errors'
import type { Identify } from './identity'
import { CHALLENGE, problemOf } from './problem'

interface V3Options extends RapiServices {
  readonly gantry: GantryMaster
  readonly identify: Identify
}

/** Who asks, and the same once more. */
type Caller = Pick<V3Request, 'identity' | 'again'>

export function v3Api(routes: readonly Route<RapiContext>[], options: V3Options): Api<Caller, RapiContext> {
  const { gantry, clock, log } = options
  const door: JsonDoor = {
    ...{ clock, limits: HTTP_LIMITS, challenge: CHALLENGE },
    problemOf: (error) => problemOf(error, log),
  }
  const api = jsonApi<Caller, RapiContext>(door, {
    routes,
    async identify(request) {
      const again = (): Promise<Identity> => options.identify(request)
      const identity = await again()
      noteAccess(request, { user: identity.user, ...(identity.token !== null && { token: identity.token }) })
      return { identity, again }
    },
    nameOf: ({ identity }) => identity.user,
    context(asked) {
      const reply: Reply = { status: 200, headers: {} }
      return new RapiContext(options, asked, undefined, { ...asked.caller, gantry, reply })
    },
    replyOf,
  })
  return {
    ...api,
    answer(asked, result, context) {
      const [, job] = /^\/3\/jobs\/(\d+)$/.exec(replyOf(context).headers['Location'] ?? '') ?? []
      if (job !== undefined) noteAccess(asked.request, { job: Number(job) })
      return api.answer(asked, result, context)
    },
    refuse(request, response, error) {
      if (!(error instanceof AnsweredByJob)) return api.refuse(request, response, error)
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
