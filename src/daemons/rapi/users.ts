// Who may log in: the users file, read anew when it has changed.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isMissing } from '../../lib/disk'
import { fileStamp } from '../../lib/file-stamp'
import type { Log } from '../../lib/log'
import { systemRandom } from '../../lib/random'
import { LOGINS_KEPT_MAX } from '../../model/limits'
import { permissionsOf } from '../../model/permissions'
import { parseUsers, type UserEntry } from '../../model/users'
import type { Identity } from '../../rpc/luxi/gantry'

export const REALM = 'Ganeti Remote API'

export type User = Omit<UserEntry, 'password'>

/** Of who has shown a password. */
export const identityOf = ({ name, options }: User): Identity => ({
  user: name,
  token: null,
  permissions: permissionsOf(options),
})

export class UsersFile {
  private users = new Map<string, UserEntry>()
  /** Who has shown these credentials since the file was read: by a keyed digest, which neither tells nor compares them. */
  private readonly shown = new Map<string, User>()
  private readonly key = systemRandom.hex(32)
  private stamp: string | undefined
  private loaded = false

  constructor(
    private readonly file: string,
    private readonly log: Log,
  ) {}

  /** A user by name, whose token was shown. */
  find(name: string): User | undefined {
    this.refresh()
    return this.users.get(name)
  }

  /** The user, if name and password fit; takes as long for an unknown name as for a wrong password. */
  verify(name: string, password: string): User | undefined {
    this.refresh()
    const entry = this.users.get(name)
    const matches = passwordMatches(name, password, entry?.password ?? '')
    return entry !== undefined && matches ? entry : undefined
  }

  /** The user whom this header has proved before. */
  recall(header: string): User | undefined {
    this.refresh()
    return this.shown.get(this.digest(header))
  }

  remember(header: string, user: User): void {
    const [oldest] = this.shown.keys()
    if (this.shown.size >= LOGINS_KEPT_MAX && oldest !== undefined) this.shown.delete(oldest)
    this.shown.set(this.digest(header), user)
  }

  refresh(force = false): void {
    const stamp = fileStamp(this.file)
    if (this.loaded && stamp === this.stamp && !force) return
    try {
      this.users = parseUsers(readFileSync(this.file, 'utf8'))
    } catch (error) {
      this.users = new Map()
      if (!isMissing(error)) this.log.error({ err: error }, `cannot read ${this.file}: nobody can log in`)
    }
    this.log.info({ users: this.users.size }, `read ${this.file}`)
    this.shown.clear()
    this.stamp = stamp
    this.loaded = true
  }

  private digest(header: string): string {
    return createHmac('sha256', this.key).update(header).digest('base64')
  }
}

function passwordMatches(name: string, given: string, stored: string): boolean {
  const [, scheme, value] = /^\{(\w+)\}(.*)$/.exec(stored) ?? ['', 'CLEARTEXT', stored]
  switch (scheme?.toUpperCase()) {
    case 'CLEARTEXT':
      return same(given, value ?? '') && stored !== ''
    case 'HA1':
      return same(createHash('md5').update(`${name}:${REALM}:${given}`).digest('hex'), (value ?? '').toLowerCase())
    default:
      return false
  }
}

/** Equal in constant time: digests of equal length are compared. */
function same(first: string, second: string): boolean {
  const [a, b] = [first, second].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}
