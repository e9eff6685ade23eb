// What a controller gets with a request.
import type { Asked } from '../../http/dispatch'
import { HttpError } from '../../http/errors'
import type { Reply } from '../../http/json-api'
import { clientDisconnectSignal } from '../../http/client-disconnect-signal'
import type { Clock } from '../../lib/clock'
import type { Log } from '../../lib/log'
import { allows, isTaken } from '../../model/permissions'
import type { Master } from '../../rpc/luxi/master'
import type { Identity } from '../../rpc/luxi/gantry'
import type { GantryMaster } from '../../rpc/luxi/gantry-calls'
import { rolesOf } from './auth'
import type { User, UserView } from './users'
import type { ConsoleTickets } from './v3/console-tickets'
import type { Caller, Sessions } from './v3/sessions'

/** Services that all requests share. */
export interface RapiServices {
  readonly master: Master
  readonly clock: Clock
  readonly log: Log
}

/** The caller of a request to /2. */
export interface V2Request {
  /** undefined without a login. */
  readonly user: User | undefined
  /** The resource's name in reason trails: `instances_name_startup`. */
  readonly resource: string
}

/** The caller of a request to /3, and the headers of its answer. */
export interface V3Request {
  readonly caller: Caller
  readonly identity: Identity
  readonly sessions: Sessions
  readonly tickets: ConsoleTickets
  readonly gantry: GantryMaster
  /** All users who may log in. */
  readonly users: () => UserView[]
  readonly reply: Reply
}

export class RapiContext {
  readonly query: URLSearchParams
  /** Parsed JSON; undefined when there was no body. */
  readonly body: unknown
  private leaves: AbortSignal | undefined

  constructor(
    readonly services: RapiServices,
    private readonly asked: Pick<Asked<unknown, RapiContext>, 'response' | 'query' | 'body'>,
    private readonly v2?: V2Request,
    readonly v3?: V3Request,
  ) {
    this.query = asked.query
    this.body = asked.body
  }

  get user(): User | undefined {
    return this.v2?.user
  }

  get resource(): string {
    return this.v2?.resource ?? ''
  }

  /** Throws 403, which does not name the missing permission. A user of /2 without roles was admitted by an option. */
  need(permission: string): void {
    const roles = rolesOf(this.user)
    if (roles !== undefined && !allows(roles, permission)) throw new HttpError(403)
  }

  /** Throws 403 if this permission was denied to the user. Needed when the user was admitted by a wider permission. */
  needNotTaken(permission: string): void {
    if (isTaken(rolesOf(this.user) ?? [], permission)) throw new HttpError(403)
  }

  /** Fires when the client has left, so that nothing waits for it or begins for it. */
  get signal(): AbortSignal {
    return (this.leaves ??= clientDisconnectSignal(this.asked.response))
  }
}
