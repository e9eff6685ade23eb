// Sessions of the console. A page that has logged in once sends a cookie, which no script can read, instead of the password. A session is
// valid as long as its login: it ends with the password, the user or the token. It also ends when it is not used. Sessions are only in
// memory, so a restart of this daemon ends them all.
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { HttpError } from '../../../http/errors'
import type { Clock } from '../../../lib/clock'
import type { Random } from '../../../lib/random'
import { SESSION_IDLE_S, SESSION_S_MAX, SESSIONS_MAX, SESSIONS_PER_USER_MAX } from '../../../model/limits/logins'
import type { Identity } from '../../../rpc/luxi/gantry'

/** The caller of a request. */
export interface Caller {
  readonly identity: Identity
  /** Resolves to the identity again. Rejects if the user, the token or the session is no longer valid. */
  readonly again: () => Promise<Identity>
  /** The session of the caller's cookie, if it has one. */
  readonly session?: Session
}

export interface Session extends Pick<Caller, 'again'> {
  readonly user: string
  /** A change must repeat this; pages of other sites cannot know it. */
  readonly csrf: string
  /** Counts as a use of the session. */
  use(): void
}

interface Open extends Session {
  readonly begun_ms: number
  used_ms: number
}

/** Browsers accept a cookie with this prefix only from this server itself, over TLS, for the whole server. */
const SESSION_COOKIE = '__Host-gantry-session'
export const CSRF_HEADER = 'x-csrf-token'
/** A page sends this header with requests that it makes by itself, without any action of the user. */
const UNATTENDED_HEADER = 'x-unattended'

const ATTRIBUTES = 'Path=/; Secure; HttpOnly; SameSite=Strict'
const COOKIE = new RegExp(`(?:^|; *)${SESSION_COOKIE}=([^;]*)`)
const READS: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD', 'OPTIONS'])

export class Sessions {
  /** By a digest of the cookie's secret; the last used one is last. */
  private readonly open = new Map<string, Open>()

  constructor(private readonly surroundings: { readonly clock: Clock; readonly random: Random }) {}

  /** The secret is always new, whatever cookie the request has, so nobody can know a session's secret beforehand. */
  begin({ identity, again }: Caller): { session: Session; cookie: string } {
    const { clock, random } = this.surroundings
    const { user } = identity
    this.makeRoom(user)
    const secret = random.hex(32)
    const now_ms = clock.monotonic_ms()
    const id = digestOf(secret)
    const session: Open = {
      ...{ user, csrf: random.hex(32), begun_ms: now_ms, used_ms: now_ms },
      use: () => this.use(id),
      again: async () => {
        const found = this.open.get(id)
        if (found === undefined || this.isOver(found)) throw over()
        return again()
      },
    }
    this.open.set(id, session)
    return { session, cookie: `${SESSION_COOKIE}=${secret}; ${ATTRIBUTES}` }
  }

  /**
   * Returns the session of a request's cookie, or undefined without a cookie. Throws if the session has ended, or if a change does not
   * repeat its token.
   */
  find(request: IncomingMessage): Session | undefined {
    const [, secret] = COOKIE.exec(request.headers.cookie ?? '') ?? []
    if (secret === undefined) return undefined
    const id = digestOf(secret)
    const session = this.open.get(id)
    if (session === undefined || this.isOver(session)) throw over()
    const token = request.headers[CSRF_HEADER]
    if (!READS.has(request.method) && digestOf(String(token)) !== digestOf(session.csrf))
      throw new HttpError(
        403,
        'A change in a session must have the header X-CSRF-Token with the token from GET /3/session',
      )
    if (isUse(request)) session.use()
    return session
  }

  private use(id: string): void {
    const session = this.open.get(id)
    if (session === undefined) return
    session.used_ms = this.surroundings.clock.monotonic_ms()
    this.open.delete(id)
    this.open.set(id, session)
  }

  /** Ends the matching sessions of a user. Returns a cookie that replaces theirs. */
  end(user: string, fits: (session: Session) => boolean = () => true): string {
    for (const [id, session] of this.open) if (session.user === user && fits(session)) this.open.delete(id)
    return `${SESSION_COOKIE}=; Max-Age=0; ${ATTRIBUTES}`
  }

  private isOver({ begun_ms, used_ms }: Open): boolean {
    const now_ms = this.surroundings.clock.monotonic_ms()
    return now_ms - used_ms >= SESSION_IDLE_S * 1000 || now_ms - begun_ms >= SESSION_S_MAX * 1000
  }

  /** Ends those that have been idle longest. */
  private makeRoom(user: string): void {
    for (const [id, session] of this.open) if (this.isOver(session)) this.open.delete(id)
    const mine = [...this.open].filter(([, session]) => session.user === user)
    const tooMany = mine.length >= SESSIONS_PER_USER_MAX ? mine : this.open.size >= SESSIONS_MAX ? [...this.open] : []
    const [oldest] = tooMany
    if (oldest !== undefined) this.open.delete(oldest[0])
  }
}

/**
 * Whether a request counts as use. Requests that a page makes by itself do not. Websockets do not either, because the request for their
 * ticket has counted.
 */
const isUse = ({ headers }: IncomingMessage): boolean =>
  headers[UNATTENDED_HEADER] === undefined && headers.upgrade === undefined

const over = (): HttpError => new HttpError(401, 'The session has ended; sign in again')

/** Secrets are random, so a digest, or comparing digests, reveals nothing. */
const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('base64')
