// The objects that a controller gets with a request.
import type { ServerResponse } from 'node:http'
import type { Clock } from '../../lib/clock'
import type { Log } from '../../lib/log'
import { allows, isTaken } from '../../model/permissions'
import type { Master } from '../../rpc/luxi/calls'
import type { GantryMaster, Identity } from '../../rpc/luxi/gantry'
import { rolesOf } from './auth'
import { HttpError } from './errors'
import type { User } from './users'

/** Services that all requests share. */
export interface RapiServices {
  readonly master: Master
  readonly clock: Clock
  readonly log: Log
}

/** The caller of a request to /3, and the headers of its answer. */
export interface V3Request {
  readonly identity: Identity
  /** The same once more, for an answer that goes on: rejects when the user or the token is no longer good. */
  readonly again: () => Promise<Identity>
  readonly gantry: GantryMaster
  readonly reply: Reply
}

export interface Reply {
  status: number
  readonly headers: Record<string, string>
  /** Writes the answer bit by bit instead of a body; ends when the client leaves. */
  stream?: (response: ServerResponse, signal: AbortSignal) => Promise<void>
}

export class RapiContext {
  private leaves: AbortSignal | undefined

  constructor(
    readonly services: RapiServices,
    private readonly response: ServerResponse,
    /** The resource's name in reason trails: `instances_name_startup`. */
    readonly resource: string,
    readonly query: URLSearchParams,
    /** Parsed JSON; undefined when there was no body. */
    readonly body: unknown,
    /** Only for requests to /3. */
    readonly v3?: V3Request,
    /** The user of a request to /2; undefined without a login. */
    readonly user?: User,
  ) {}

  /** Throws 403, which does not tell what is missing. A user of /2 without roles has been let in by an option. */
  need(permission: string): void {
    const roles = rolesOf(this.user)
    if (roles !== undefined && !allows(roles, permission)) throw new HttpError(403)
  }

  /** Throws 403 when this was taken away from the user, whom a wider permission has let in. */
  needNotTaken(permission: string): void {
    if (isTaken(rolesOf(this.user) ?? [], permission)) throw new HttpError(403)
  }

  /** Fires when the client has gone away, so that nothing waits or is begun on its behalf. */
  get signal(): AbortSignal {
    return (this.leaves ??= leaving(this.response))
  }
}

export function leaving(response: ServerResponse): AbortSignal {
  const abort = new AbortController()
  response.once('close', () => abort.abort())
  if (response.destroyed) abort.abort()
  return abort.signal
}
