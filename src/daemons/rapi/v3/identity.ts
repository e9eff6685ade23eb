// Who asks /3: a user with a password, or whoever shows a bearer token. What they may do is decided by the master.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { Passport, type Strategy } from 'passport'
import { permissionsOf } from '../../../model/permissions'
import type { GantryMaster, Identity } from '../../../rpc/luxi/gantry'
import { type Authenticator, FailureLog } from '../auth'
import type { Clock } from '../../../lib/clock'
import type { Log } from '../../../lib/log'
import { HttpError } from '../errors'
import { identityOf, type UsersFile } from '../users'

interface IdentifyOptions {
  readonly gantry: GantryMaster
  readonly users: UsersFile
  readonly passwords: Authenticator
  readonly clock: Clock
  readonly log: Log
}

export type Identify = (request: IncomingMessage, response: ServerResponse) => Promise<Identity>

/** The package has no types. */
interface BearerModule {
  readonly Strategy: new (verify: (secret: string, done: (error: unknown, found: unknown) => void) => void) => Strategy
}

export function createIdentify(options: IdentifyOptions): Identify {
  const { gantry, users, passwords, clock, log } = options
  const { Strategy: Bearer } = createRequire(__filename)('passport-http-bearer') as BearerModule
  const passport = new Passport()
  const failures = new FailureLog(clock, log)
  passport.use(
    'bearer',
    new Bearer((secret, done) => {
      tokenIdentity(secret).then(
        (identity) => done(null, identity ?? false),
        (error: unknown) => done(error, false),
      )
    }),
  )

  async function tokenIdentity(secret: string): Promise<Identity | undefined> {
    const token = await gantry.identify(secret)
    const user = token === null ? undefined : users.find(token.user)
    // Who is no longer a user has no tokens either.
    if (token === null || user === undefined) return undefined
    return { user: token.user, token: token.id, permissions: permissionsOf(user.options) }
  }

  function bearer(request: IncomingMessage, response: ServerResponse): Promise<Identity | undefined> {
    return new Promise((resolve, reject) => {
      const decide = (error: unknown, found: unknown) =>
        error instanceof Error ? reject(error) : resolve(isIdentity(found) ? found : undefined)
      const check = passport.authenticate('bearer', { session: false }, decide) as Middleware
      check(request, response, reject)
    })
  }

  return async (request, response) => {
    if (/^bearer /i.test(request.headers.authorization ?? '')) {
      const identity = await bearer(request, response)
      if (identity !== undefined) return identity
      await failures.delay(request)
      throw new HttpError(401, 'The token is not valid')
    }
    const user = await passwords.authenticate(request, response)
    if (user === undefined) throw new HttpError(401, 'Log in with a password or a token')
    return identityOf(user)
  }
}

type Middleware = (request: IncomingMessage, response: ServerResponse, fail: (error: unknown) => void) => void

const isIdentity = (value: unknown): value is Identity =>
  typeof value === 'object' && value !== null && 'permissions' in value
