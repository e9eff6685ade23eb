// Identifies callers of /3: a user with a password, a client with a bearer token, or a page with a session's cookie.
// The master decides what they may do.
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { permissionsOf } from '../../../model/permissions'
import type { Identity } from '../../../rpc/luxi/gantry'
import type { GantryMaster } from '../../../rpc/luxi/gantry-calls'
import { LOGINS_KEPT_MAX } from '../../../model/limits/logins'
import type { Authenticator } from '../auth'
import { HttpError } from '../../../http/errors'
import type { LoginTurns } from '../login-turns'
import { identityOf, type User, type UsersFile } from '../users'
import type { Caller, Sessions } from './sessions'

interface IdentifyOptions {
  readonly gantry: GantryMaster
  readonly users: UsersFile
  readonly passwords: Authenticator
  readonly turns: LoginTurns
  /** The sessions of pages. Missing if the API has no pages. */
  readonly sessions?: Sessions
}

export type Identify = (request: IncomingMessage) => Promise<Caller>

export function createIdentify(options: IdentifyOptions): Identify {
  const { gantry, users, passwords, turns, sessions } = options
  const known = new KnownTokens()

  async function tokenIdentity(secret: string): Promise<Identity | undefined> {
    const token = await gantry.identify(secret)
    const user = token === null ? undefined : users.find(token.user)
    // The tokens of a removed user are not valid either.
    if (token === null || user === undefined) return undefined
    return { user: token.user, token: token.id, permissions: permissionsOf(user.options) }
  }

  async function bearer(request: IncomingMessage, header: string): Promise<Caller> {
    const shown = digestOf(header)
    const [, secret = ''] = /^bearer +(\S+)\s*$/i.exec(header) ?? []
    const check = async () => (secret === '' ? undefined : await tokenIdentity(secret))
    const identity = known.has(shown) ? await check() : await turns.take(request.socket.remoteAddress, { shown }, check)
    known.note(shown, identity !== undefined)
    return { identity: valid(identity), again: async () => valid(await check()) }
  }

  function password(user: User): Caller {
    const shown = users.stateOf(user.name)
    const again = async (): Promise<Identity> => {
      const now = users.find(user.name)
      if (now === undefined || users.stateOf(user.name) !== shown)
        throw new HttpError(401, `The password of ${user.name} has changed; log in again`)
      return identityOf(now)
    }
    return { identity: identityOf(user), again }
  }

  return async (request) => {
    const header = request.headers.authorization ?? ''
    if (/^bearer /i.test(header)) return bearer(request, header)
    const session = header === '' ? sessions?.find(request) : undefined
    if (session !== undefined) return { identity: await session.again(), again: session.again, session }
    const user = await passwords.authenticate(request)
    if (user === undefined) throw new HttpError(401, 'Log in with a password or a token')
    return password(user)
  }
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
