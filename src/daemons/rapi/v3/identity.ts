// The logins of /3: a user with a password, a client with a bearer token, or a page with a session's cookie. The master
// decides what they may do.
import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { permissionsOf } from '../../../model/permissions'
import type { Identity } from '../../../rpc/luxi/gantry'
import type { GantryMaster } from '../../../rpc/luxi/gantry-calls'
import { LOGINS_KEPT_MAX } from '../../../model/limits/logins'
import { HttpError } from '../../../http/errors'
import { type Identify, LoginStrategy, type Verify } from '../../../http/passport'
import type { LoginThrottle } from '../login-throttle'
import { identityOf, type User, type UsersFile } from '../users'
import type { Caller, Session, Sessions } from './sessions'

interface LoginOptions {
  readonly gantry: GantryMaster
  readonly users: UsersFile
  readonly passwords: Verify<User>
  readonly turns: LoginThrottle
  /** The sessions of pages. Missing if the API has no pages. */
  readonly sessions?: Sessions
}

/** What passport asks, in this order. */
export function logins({ gantry, users, passwords, turns, sessions }: LoginOptions): LoginStrategy<Caller>[] {
  const known = new KnownTokens()

  async function tokenIdentity(secret: string): Promise<Identity | undefined> {
    const token = await gantry.identify(secret)
    const user = token === null ? undefined : users.find(token.user)
    // The tokens of a removed user are not valid either.
    if (token === null || user === undefined) return undefined
    return { user: token.user, token: token.id, permissions: permissionsOf(user.options) }
  }

  async function bearer(request: IncomingMessage, header: string): Promise<Caller> {
    const displayed = digestOf(header)
    const [, secret = ''] = /^bearer +(\S+)\s*$/i.exec(header) ?? []
    const check = async () => (secret === '' ? undefined : await tokenIdentity(secret))
    const identity = known.has(displayed)
      ? await check()
      : await turns.take(request.socket.remoteAddress, { shown: displayed }, check)
    known.note(displayed, identity !== undefined)
    return { identity: valid(identity), again: async () => valid(await check()) }
  }

  async function inSession(session: Session): Promise<Caller> {
    return { identity: await session.again(), again: session.again, session }
  }

  function password(user: User): Caller {
    const displayed = users.stateOf(user.name)
    const again = async (): Promise<Identity> => {
      const now = users.find(user.name)
      if (now === undefined || users.stateOf(user.name) !== displayed)
        throw new HttpError(401, `The password of ${user.name} has changed; log in again`)
      return identityOf(now)
    }
    return { identity: identityOf(user), again }
  }

  return [
    new LoginStrategy('bearer', (request) => {
      const header = request.headers.authorization ?? ''
      return /^bearer /i.test(header) ? bearer(request, header) : undefined
    }),
    new LoginStrategy('session', (request) => {
      const session = (request.headers.authorization ?? '') === '' ? sessions?.find(request) : undefined
      return session && inSession(session)
    }),
    new LoginStrategy('basic', (request) => {
      const user = passwords(request)
      return user instanceof Promise ? user.then(password) : user && password(user)
    }),
  ]
}

export type IdentifyCaller = (request: IncomingMessage, response: ServerResponse) => Promise<Caller>

/** Refuses a request that has no login. */
export const required =
  (identify: Identify<Caller>): IdentifyCaller =>
  async (request, response) => {
    const caller = await identify(request, response)
    if (caller === undefined) throw new HttpError(401, 'Log in with a password or a token')
    return caller
  }

function valid(identity: Identity | undefined): Identity {
  if (identity === undefined) throw new HttpError(401, 'The token is not valid')
  return identity
}

/** Tokens that were valid the last time. A client with one of them is not guessing. */
class KnownTokens {
  private readonly digests = new Set<string>()

  has(digest: string): boolean {
    return this.digests.has(digest)
  }

  note(digest: string, good: boolean): void {
    if (!good) return void this.digests.delete(digest)
    const [oldest] = this.digests.add(digest)
    if (this.digests.size > LOGINS_KEPT_MAX && oldest !== undefined) this.digests.delete(oldest)
  }
}

/** Secrets are random, so a digest reveals nothing. */
const digestOf = (header: string): string => createHash('sha256').update(header).digest('base64')
