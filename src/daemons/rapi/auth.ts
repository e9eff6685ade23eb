// Who asks, and what they may do. Basic authentication through passport.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Passport } from 'passport'
import { BasicStrategy } from 'passport-http'
import { isPermissionPattern, permissionsOf } from '../../model/permissions'
import { badRequest, HttpError } from '../../http/errors'
import type { LoginTurns } from './login-turns'
import { type Credentials, REALM, type User, type UsersFile } from './users'

export const CHALLENGE = `Basic realm="${REALM}"`

export interface Authenticator {
  /** undefined for a request without credentials; throws 401 for wrong ones. */
  authenticate(request: IncomingMessage, response: ServerResponse): Promise<User | undefined>
}

/** As passport makes it, which does not say its type. */
type Middleware = (request: { headers: object }, response: ServerResponse, fail: (error: unknown) => void) => void

export function basicAuthenticator(users: UsersFile, turns: LoginTurns): Authenticator {
  const passport = new Passport()
  passport.use(
    new BasicStrategy({ realm: REALM }, (name, password, done) => {
      done(null, users.verify({ name, password: decodeURIComponent(password) }) ?? false)
    }),
  )

  return {
    async authenticate(request, response) {
      const header = request.headers.authorization
      if (header === undefined) return undefined
      if (/^basic\s*$/i.test(header)) throw badRequest('Basic authentication requires credentials')
      const login = readLogin(header)
      if (login === undefined) throw new HttpError(401)
      const known = users.recall(login)
      if (known !== undefined) return known
      const shown = users.digest(login)
      const user = await turns.take(request.socket.remoteAddress, { user: login.name, shown }, () =>
        check(login, response),
      )
      if (user === undefined) throw new HttpError(401)
      return user
    },
  }

  function check(login: Credentials, response: ServerResponse): Promise<User | undefined> {
    return new Promise((resolve, reject) => {
      const decide = (error: unknown, found: unknown) =>
        error instanceof Error ? reject(error) : resolve(asUser(found))
      const authenticate: Middleware = passport.authenticate('basic', { session: false }, decide)
      authenticate(withoutColons(login), response, reject)
    })
  }
}

function readLogin(header: string): Credentials | undefined {
  const [, encoded] = /^basic +(\S+)\s*$/i.exec(header) ?? []
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  return colon === -1 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** The only part of a request that is looked at: passport-http ends a password at its first colon, so it gets one that has none. */
function withoutColons({ name, password }: Credentials): { headers: { authorization: string } } {
  const text = `${name}:${encodeURIComponent(password)}`
  return { headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } }
}

/** Throws 401 without a user and 403 for the wrong user. Without `allowed` options anyone may. */
export function checkAccess(user: User | undefined, allowed: readonly string[]): void {
  if (allowed.length === 0) return
  if (user === undefined) throw new HttpError(401)
  if (allowed.some((option) => user.options.has(option))) return
  // Whether a role allows it is checked where it is known what is to be done.
  if (!mayEverything(user) && rolesOf(user) === undefined) throw new HttpError(403)
}

/** The roles and permissions of a user; undefined for a user who has only Ganeti's older options, or none. */
export function rolesOf(user: User | undefined): readonly string[] | undefined {
  if (user === undefined || mayEverything(user)) return undefined
  const hasRoles = [...user.options].some((option) => option.startsWith('@') || isPermissionPattern(option))
  return hasRoles ? permissionsOf(user.options) : undefined
}

/** One from whom something is taken away again is looked at more closely. */
const mayEverything = ({ options }: User): boolean =>
  (options.has('write') || options.has('all')) && ![...options].some((option) => option.startsWith('-'))

const asUser = (found: unknown): User | undefined => (isUser(found) ? found : undefined)

const isUser = (value: unknown): value is User => typeof value === 'object' && value !== null && 'options' in value
