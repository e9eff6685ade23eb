// Makes guessing passwords and tokens slow, over any number of connections. A login that has not succeeded before takes two turns before it
// is checked: one for its address, and one for its user. A turn counts as a wrong guess from the moment when it is taken. So concurrent
// guesses wait for each other, and hanging up does not help.
import { createHash } from 'node:crypto'
import { addressGroup } from '../../lib/net/address-group'
import type { Clock } from '../../lib/clock'
import type { Log } from '../../lib/log'
import {
  LOGIN_ADDRESSES_MAX,
  LOGIN_DELAY_S_MAX,
  LOGIN_FAILURES_FREE,
  LOGIN_MEMORY_S,
  LOGIN_WAIT_S_MAX,
} from '../../model/limits/logins'
import { tooMany } from '../../http/errors'

interface Guesses {
  readonly count: number
  /** When the next one may be checked. */
  readonly next_ms: number
}

/** The login, as far as it is known before the check. */
export interface Login {
  /** The user of a password. Undefined for a token. */
  readonly user?: string
  /** A digest of the password or token. */
  readonly shown: string
}

export class LoginThrottle {
  private readonly addresses = new Map<string, Guesses>()
  private readonly users = new Map<string, Guesses>()
  /**
   * Users, with addresses from which they have logged in. From there, others' guesses for their names do not delay
   * them.
   */
  private readonly familiar = new Set<string>()
  private readonly underWay = new Map<string, Promise<unknown>>()

  constructor(
    private readonly clock: Clock,
    private readonly log: Log,
  ) {}

  /** Returns the result of `check`, which is undefined for a wrong guess. Throws 429 if too many are waiting. */
  take<T>(remote: string | undefined, login: Login, check: () => Promise<T | undefined>): Promise<T | undefined> {
    const address = addressGroup(remote ?? 'unknown')
    // The same guess from the same address counts once, since a page with a new login asks for many things at once.
    const id = `${address} ${login.shown}`
    const known = this.underWay.get(id)
    // A key always has the same type, because the same check made its value.
    if (known !== undefined) return known as Promise<T | undefined>
    const result = this.checked(address, login, check).finally(() => this.underWay.delete(id))
    this.underWay.set(id, result)
    return result
  }

  private async checked<T>(
    address: string,
    { user }: Login,
    check: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    // A name may be as long as a header.
    const name = user === undefined ? undefined : createHash('sha256').update(user).digest('base64')
    const pair = `${address} ${name}`
    const byUser = name === undefined || this.familiar.has(pair) ? undefined : name
    const takeBack = await this.turn(address, byUser)
    const found = await check().catch((error: unknown) => {
      // A check that failed for other reasons is not a wrong guess.
      takeBack()
      throw error
    })
    if (found === undefined) {
      this.log.warn({ address, failures: this.addresses.get(address)?.count ?? 0 }, 'login refused')
      return undefined
    }
    this.addresses.delete(address)
    if (byUser !== undefined) this.users.delete(byUser)
    if (name !== undefined) keep(this.familiar.add(pair))
    return found
  }

  /** Returns a function that makes the turn no longer count. */
  private async turn(address: string, user: string | undefined): Promise<() => void> {
    const now_ms = this.clock.monotonic_ms()
    const ofAddress = recent(this.addresses.get(address), now_ms)
    const ofUser = recent(user === undefined ? undefined : this.users.get(user), now_ms)
    const start_ms = Math.max(now_ms, ofAddress.next_ms, ofUser.next_ms)
    const wait_s = (start_ms - now_ms) / 1000
    if (wait_s > LOGIN_WAIT_S_MAX) {
      const whose = ofAddress.next_ms >= ofUser.next_ms ? `from ${address}` : 'for this user'
      throw tooMany(`There were too many wrong logins ${whose}`, wait_s)
    }
    const noted = [note(this.addresses, address, ofAddress, now_ms)]
    if (user !== undefined) noted.push(note(this.users, user, ofUser, now_ms))
    if (wait_s > 0) await this.clock.sleep(wait_s * 1000)
    return () => noted.forEach((takeBack) => takeBack())
  }
}

const NONE: Guesses = { count: 0, next_ms: 0 }

const recent = (guesses: Guesses | undefined, now_ms: number): Guesses =>
  guesses === undefined || now_ms - guesses.next_ms > LOGIN_MEMORY_S * 1000 ? NONE : guesses

function note(guesses: Map<string, Guesses>, key: string, before: Guesses, now_ms: number): () => void {
  const count = before.count + 1
  const excess = count - LOGIN_FAILURES_FREE
  const delay_s = excess > 0 ? Math.min(2 ** (excess - 2), LOGIN_DELAY_S_MAX) : 0
  guesses.delete(key)
  keep(guesses.set(key, { count, next_ms: Math.max(now_ms, before.next_ms) + delay_s * 1000 }))
  return () => {
    const now = guesses.get(key)
    if (now !== undefined) guesses.set(key, { count: now.count - 1, next_ms: now.next_ms - delay_s * 1000 })
  }
}

/** Drops the oldest entry when it is full. */
function keep(all: Map<string, unknown> | Set<string>): void {
  const [oldest] = all.keys()
  if (all.size > LOGIN_ADDRESSES_MAX && oldest !== undefined) all.delete(oldest)
}
