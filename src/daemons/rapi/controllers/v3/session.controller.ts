// Requests of /3 about the caller, and about the sessions of the console.
import { Delete, Get, Post, Query, Route, Security, SuccessResponse, Tags } from '../../../../http/decorators'
import { badRequest } from '../../../../http/errors'
import { SESSION_IDLE_S } from '../../../../model/limits/logins'
import type { Session } from '../../v3/sessions'
import { V3Resource } from './resource'

/** An object is in the scope if it has one of the tags and is in one of the groups. */
interface SessionScope {
  /** If it is empty, tags do not matter. */
  tags: string[]
  /** If it is empty, groups do not matter. */
  groups: string[]
}

/** The caller, and what it may do. */
export interface SessionView {
  user: string
  /** The id of the token that the caller used. Null for a password. */
  token: string | null
  /** The names of all permissions that the caller has. A token with a scope has them for the objects in its scope. */
  permissions: string[]
  /** The objects in the token's scope. Null if the caller is not limited. */
  scope: SessionScope | null
  /**
   * Permissions that a token with a scope has but cannot use, because everything that needs them concerns the whole cluster. They are not
   * among `permissions`.
   */
  beyond_scope: string[]
  /** Kinds of objects of which the token's scope has none: `instance`, `node`, `group` or `network`. Requests cannot name such objects. */
  empty_kinds: string[]
  /** A change in this session must repeat this text in its header `X-CSRF-Token`. Null without a session. */
  csrf: string | null
  /**
   * The session ends after this many seconds without a request. Null without a session. Requests with the header `X-Unattended`, which a
   * page sends by itself, do not count. @isInt
   */
  idle_s: number | null
}

@Route('3/session')
@Tags('sessions')
@Security('basic')
@Security('bearer')
export class SessionV3Controller extends V3Resource {
  /** The caller, and what it may do. */
  @Get('')
  get(): Promise<SessionView> {
    return this.shown(this.v3.caller.session)
  }

  /**
   * Begins a session for a browser: from now on, the cookie of the answer stands for the password or token of this request. The session
   * ends when the password or token ends, when it is not used, and when this daemon restarts.
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
   * @param everywhere Ends all sessions of this user, in all browsers. A caller without a session ends all anyway.
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
    const { permissions, scope, beyond_scope, empty_kinds } = await gantry.rights(identity)
    const limits = {
      scope: scope && { tags: [...scope.tags], groups: [...scope.groups] },
      beyond_scope: [...beyond_scope],
      empty_kinds: [...empty_kinds],
    }
    return { user, token, permissions: [...permissions], ...limits, ...own }
  }
}
