// Who asks, and what they may do. Basic authentication through passport; wrong passwords are logged and answered slowly.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { Passport } from 'passport'
import { BasicStrategy } from 'passport-http'
import type { Clock } from '../../lib/clock'
import type { Log } from '../../lib/log'
import { LOGIN_ADDRESSES_MAX, LOGIN_DELAY_S_MAX, LOGIN_FAILURES_FREE, LOGIN_MEMORY_S } from '../../model/limits'
import { isPermissionPattern, permissionsOf } from '../../model/permissions'
import { badRequest, HttpError } from './errors'
import { REALM, type User, type UsersFile } from './users'

export const CHALLENGE = `Basic realm="${REALM}"`

export interface Authenticator {
  /** undefined for a request without credentials; throws 401 for wrong ones. */
  authenticate(request: IncomingMessage, response: ServerResponse): Promise<User | undefined>
}

/** As passport makes it, which does not say its type. */
type Middleware = (request: IncomingMessage, response: ServerResponse, fail: (error: unknown) => void) => void

export function basicAuthenticator(users: UsersFile, clock: Clock, log: Log): Authenticator {
  const passport = new Passport()
  passport.use(
    new BasicStrategy({ realm: REALM, passReqToCallback: true }, (request, name, _password, done) => {
      // passport-http ends the password at its first colon, so it is taken from the header.
      done(null, users.verify(name, passwordOf(request.headers.authorization ?? '')) ?? false)
    }),
  )
  const failures = new FailureLog(clock, log)

  return {
    async authenticate(request, response) {
      const header = request.headers.authorization
      if (header === undefined) return undefined
      if (/^basic\s*$/i.test(header)) throw badRequest('Basic authentication requires credentials')
      const known = users.recall(header)
      const user = known ?? (await check(request, response))
      if (user === undefined) {
        await failures.delay(request)
        throw new HttpError(401)
      }
      if (known === undefined) users.remember(header, user)
      failures.forget(request)
      return user
    },
  }

  function check(request: IncomingMessage, response: ServerResponse): Promise<User | undefined> {
    return new Promise((resolve, reject) => {
      const decide = (error: unknown, found: unknown) =>
        error instanceof Error ? reject(error) : resolve(asUser(found))
      const authenticate: Middleware = passport.authenticate('basic', { session: false }, decide)
      authenticate(request, response, reject)
    })
  }
}

/** Throws 401 for nobody and 403 for the wrong user; no `allowed` options means that anyone may. */
export function checkAccess(user: User | undefined, allowed: readonly string[]): void {
  if (allowed.length === 0) return
  if (user === undefined) throw new HttpError(401)
  if (allowed.some((option) => user.options.has(option))) return
  // Whether a role allows it is checked where it is known what is to be done.
  if (!mayEverything(user) && rolesOf(user) === undefined) throw new HttpError(403)
}

/** What a user may do by roles and permissions; undefined for one who has only Ganeti's older options, or none. */
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

function passwordOf(header: string): string {
  const credentials = Buffer.from(header.split(' ')[1] ?? '', 'base64').toString()
  return credentials.slice(credentials.indexOf(':') + 1)
}

/** Counts wrong passwords by address, so that guessing becomes slow; forgets the oldest address when it is full. */
export class FailureLog {
  private readonly byAddress = new Map<string, { count: number; last_ms: number }>()

  constructor(
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  async delay(request: IncomingMessage): Promise<void> {
    const address = addressOf(request)
    const now_ms = this.clock.monotonic_ms()
    const before = this.byAddress.get(address)
    const expired = before === undefined || now_ms - before.last_ms > LOGIN_MEMORY_S * 1000
    const count = expired ? 1 : before.count + 1
    this.byAddress.delete(address)
    this.byAddress.set(address, { count, last_ms: now_ms })
    const [oldest] = this.byAddress.keys()
    if (this.byAddress.size > LOGIN_ADDRESSES_MAX && oldest !== undefined) this.byAddress.delete(oldest)
    this.log.warn({ address, failures: count }, 'login refused')
    const excess = count - LOGIN_FAILURES_FREE
    if (excess > 0) await this.clock.sleep(Math.min(2 ** (excess - 2), LOGIN_DELAY_S_MAX) * 1000)
  }

  forget(request: IncomingMessage): void {
    this.byAddress.delete(addressOf(request))
  }
}

const addressOf = (request: IncomingMessage): string => request.socket.remoteAddress ?? 'unknown'
