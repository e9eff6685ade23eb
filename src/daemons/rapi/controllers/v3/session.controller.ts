// Requests of /3 about who asks, and about the sessions of the console.
import { Delete, Get, Post, Query, Route, Security, SuccessResponse, Tags } from '../../../../http/decorators'
import { badRequest } from '../../../../http/errors'
import { SESSION_IDLE_S } from '../../../../model/limits/logins'
import type { Session } from '../../v3/sessions'
import { V3Resource } from './resource'

/** What belongs to it has one of the tags, and is only in these groups. */
export interface SessionScope {
  /** Empty: whatever tags it has. */
  tags: string[]
  /** Empty: in all groups. */
  groups: string[]
}

/** Who asks, and what they may do. */
export interface SessionView {
  user: string
  /** The id of the token that was shown; null for a password. */
  token: string | null
  /** The names of all permissions that the caller has. A token with a scope has them for what it covers. */
  permissions: string[]
  /** The objects that a token with a scope covers; null if the caller is not limited to some. */
  scope: SessionScope | null
  /**
   * Permissions of a token with a scope that it cannot use, because all that needs them concerns everybody. They are not among
   * `permissions`.
   */
  beyond_scope: string[]
  /** What a change in this session repeats in its header `X-CSRF-Token`; null for a caller without a session. */
  csrf: string | null
  /**
   * Seconds without a request after which the session ends; null without one. Requests with the header `X-Unattended`, which a page sends
   * by itself, do not count. @isInt
   */
  idle_s: number | null
}

@Route('3/session')
@Tags('sessions')
@Security('basic')
@Security('bearer')
export class SessionV3Controller extends V3Resource {
  /** Who asks, and what they may do. */
  @Get('')
  get(): Promise<SessionView> {
    return this.shown(this.v3.caller.session)
  }

  /**
   * Begins a session for a browser: from now on the cookie of the answer stands for the password or token of this request. It ends with
   * them, when it is not used, and when this daemon is restarted.
   */
  @Post('')
  @SuccessResponse(201, 'Created')
  begin(): Promise<SessionView> {
    const { caller, sessions, reply } = this.v3
    if (caller.session !== undefined)
      throw badRequest('A session begins with a password or a token, not with a session')
    const { session, cookie } = sessions.begin(caller)
    reply.status = 201
    reply.headers['Set-Cookie'] = cookie
    return this.shown(session)
  }

  /**
   * Ends this session.
   * @param everywhere Ends all sessions of this user, in whatever browser; without a session of its own a caller ends all.
   */
  @Delete('')
  @SuccessResponse(204, 'Ended')
  async end(@Query() everywhere = false): Promise<void> {
    const { caller, identity, sessions, reply } = this.v3
    reply.headers['Set-Cookie'] = sessions.end(identity.user, (session) => everywhere || session === caller.session)
    reply.status = 204
  }

  private async shown(session: Session | undefined): Promise<SessionView> {
    const { identity, gantry } = this.v3
    const { user, token } = identity
    const own = { csrf: session?.csrf ?? null, idle_s: session === undefined ? null : SESSION_IDLE_S }
    const { permissions, scope, beyond_scope } = await gantry.rights(identity)
    const limits = {
      scope: scope && { tags: [...scope.tags], groups: [...scope.groups] },
      beyond_scope: [...beyond_scope],
    }
    return { user, token, permissions: [...permissions], ...limits, ...own }
  }
}
