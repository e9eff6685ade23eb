// The users file, which says who may log in. It is read again after each change.
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { isMissing } from '../../lib/disk'
import { fileVersion } from '../../lib/file/file-version'
import type { Files } from '../../lib/files'
import type { Log } from '../../lib/log'
import type { Random } from '../../lib/random'
import { LOGINS_KEPT_MAX } from '../../model/limits/logins'
import { permissionsOf } from '../../model/permissions'
import { parseUsers, passwordForm, type UserEntry } from '../../model/users'
import { badPermission } from '../../opcodes/permission'
import type { Identity } from '../../rpc/luxi/gantry'

export const REALM = 'Ganeti Remote API'

export type User = Omit<UserEntry, 'password'>

/** A user as others may see it. */
export interface UserView {
  name: string
  options: string[]
  /** Patterns. */
  permissions: string[]
}

/** The name and password of a login. */
export interface Credentials {
  readonly name: string
  readonly password: string
}

/** The identity of a user with a password. */
export const identityOf = ({ name, options }: User): Identity => ({
  user: name,
  token: null,
  permissions: permissionsOf(options),
})

export class UsersFile {
  private users = new Map<string, UserEntry>()
  /** Entries that these credentials have matched, by a keyed digest, which can neither be reversed nor compared. */
  private readonly shown = new Map<string, Pick<UserEntry, 'name' | 'password'>>()
  private readonly key: string
  private readonly log: Log
  private stamp: string | undefined
  private loaded = false

  constructor(
    private readonly file: string,
    private readonly surroundings: { readonly files: Files; readonly random: Random; readonly log: Log },
  ) {
    this.key = surroundings.random.hex(32)
    this.log = surroundings.log
  }

  /** The user of a token, by name. */
  find(name: string): User | undefined {
    this.refresh()
    return this.users.get(name)
  }

  /** The user, if name and password fit. Takes as long for an unknown name as for a wrong password. */
  verify(login: Credentials): User | undefined {
    this.refresh()
    const { name, password } = login
    const entry = this.users.get(name)
    const matches = passwordMatches(name, password, entry?.password ?? '')
    if (entry === undefined || !matches) return undefined
    this.remember(login, entry)
    return entry
  }

  /** The user whom these credentials have matched before, if the password in the file is unchanged. */
  recall(login: Credentials): User | undefined {
    this.refresh()
    const displayed = this.shown.get(this.digest(login))
    const entry = displayed && this.users.get(displayed.name)
    return entry?.password === displayed?.password ? entry : undefined
  }

  /** All users, sorted by name. */
  list(): UserView[] {
    this.refresh()
    const users = [...this.users.values()].map(({ name, options }) => ({
      ...{ name, options: [...options], permissions: permissionsOf(options) },
    }))
    return users.sort((a, b) => (a.name < b.name ? -1 : 1))
  }

  /**
   * A digest of the user's password in the file. It changes with the password, and is undefined without such a user.
   */
  stateOf(name: string): string | undefined {
    this.refresh()
    const entry = this.users.get(name)
    return entry && this.digest(entry)
  }

  /** The key for remembering the result of these credentials. */
  digest({ name, password }: Credentials): string {
    return createHmac('sha256', this.key).update(`${name}:${password}`).digest('base64')
  }

  refresh(force = false): void {
    const { files } = this.surroundings
    const stamp = fileVersion(files, this.file)
    if (this.loaded && stamp === this.stamp && !force) return
    try {
      this.users = this.usable(parseUsers(files.readFileSync(this.file, 'utf8')))
    } catch (error) {
      this.users = new Map()
      if (!isMissing(error)) this.log.error({ err: error }, `cannot read ${this.file}: nobody can log in`)
    }
    this.log.info({ users: this.users.size }, `read ${this.file}`)
    this.stamp = stamp
    this.loaded = true
  }

  /** Drops users whose line has a mistake: they might be able to do more than their administrator wants. */
  private usable(users: Map<string, UserEntry>): Map<string, UserEntry> {
    for (const { name, password, options } of users.values()) {
      const form = passwordForm(password)
      if (form === undefined) this.log.error({ user: name }, `${name} of ${this.file} cannot log in: ${UNKNOWN_FORM}`)
      const bad = badPermission([...options].filter((option) => option.startsWith('-')))
      if (bad !== undefined) this.log.error({ user: name }, `${name} of ${this.file} cannot log in: ${bad}`)
      if (form === undefined || bad !== undefined) users.delete(name)
    }
    return users
  }

  private remember(login: Credentials, entry: UserEntry): void {
    const [oldest] = this.shown.keys()
    if (this.shown.size >= LOGINS_KEPT_MAX && oldest !== undefined) this.shown.delete(oldest)
    this.shown.set(this.digest(login), entry)
  }
}

const UNKNOWN_FORM = 'a password that begins with a brace must be {CLEARTEXT} or {HA1} with a password or its digest'

function passwordMatches(name: string, input: string, stored: string): boolean {
  const { scheme, value } = passwordForm(stored) ?? { scheme: 'CLEARTEXT', value: '' }
  if (scheme === 'CLEARTEXT') return same(input, value) && value !== ''
  return same(createHash('md5').update(`${name}:${REALM}:${input}`).digest('hex'), value.toLowerCase())
}

/** Equal in constant time: compares digests of equal length. */
function same(first: string, second: string): boolean {
  const [a, b] = [first, second].map((text) => createHash('sha256').update(text).digest())
  return a !== undefined && b !== undefined && timingSafeEqual(a, b)
}
