// The requests of the maintenance daemon: who sends them, and what the controllers get.
import { routes } from '../../generated/maintd-routes'
import { noteAccess } from '../../http/access-log'
import type { Api } from '../../http/dispatch'
import { jsonApi } from '../../http/json-api'
import { identifyBy } from '../../http/passport'
import { MAINTD_HTTP_LIMITS } from '../../model/limits/maintenance'
import type { Identity } from '../../rpc/luxi/gantry'
import { MaintdContext, type MaintdServices } from './context'

export function maintdApi(services: MaintdServices): Api<Identity | undefined, MaintdContext> {
  const { clock, gantry, view, challenge, problemOf } = services
  const identify = identifyBy(services.logins)
  return jsonApi<Identity | undefined, MaintdContext>(
    { clock, limits: MAINTD_HTTP_LIMITS, challenge, problemOf },
    {
      routes,
      async identify(request, response) {
        const caller = await identify(request, response)
        if (caller === undefined) return undefined
        const { identity } = caller
        noteAccess(request, { user: identity.user, ...(identity.token !== null && { token: identity.token }) })
        return identity
      },
      nameOf: (identity) => identity?.user,
      context: ({ caller }) => new MaintdContext(view, gantry, caller),
      replyOf: ({ reply }) => reply,
    },
  )
}
