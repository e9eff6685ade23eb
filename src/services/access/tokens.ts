// Bearer tokens, in gantry.data by id, with the digest of their secret. A secret is 32 random bytes, so nobody can
// guess it from a plain digest.
import { createHash, timingSafeEqual } from 'node:crypto'
import { change } from '../../config/changes'
import { type Dictionary, recordGet, recordValues } from '../../config/records'
import { seconds, within } from '../../lib/clock'
import { Mutex } from '../../lib/work/mutex'
import type { GantryData } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { TOKENS } from '../../model/gantry-sections'
import { TOKENS_MAX, TOKENS_PER_USER_MAX, TOKEN_SEEN_S, USERS_TOLD_MAX } from '../../model/limits/logins'
import { withoutRoles } from '../../model/permissions'
import { parseUsers } from '../../model/users'
import { badPermission } from '../../opcodes/permission'
import type { Identity, NewToken, TokenInfo } from '../../rpc/luxi/gantry'
import type { ClientId } from '../../rpc/wconfd/calls'
import { Access, forbidden } from './access'
import type { MasterContext } from '../master-context'

const PREFIX = 'gnt'

/** gantry.data, as the master follows it. */
export interface GantryDocument {
  /** Undefined until it has arrived. */
  current(): GantryData | undefined
  /** Calls the listener after each change. Returns a function that stops this. */
  onChange(listener: () => void): () => void
}

interface StoredToken extends TokenInfo {
  readonly digest: string
}

export class TokenService {
  private readonly turns = new Mutex()

  constructor(
    private readonly context: MasterContext,
    private readonly documents: GantryDocument,
  ) {}

  /** The caller with its scope; throws if its token was revoked or has expired. */
  access(identity: Identity): Access {
    if (identity.token === null) return new Access(identity, null)
    const token = this.one(identity.token)
    if (token === undefined || token.user !== identity.user || this.isOver(token))
      throw forbidden('the token is no longer valid')
    return new Access(identity, token)
  }

  identify(secret: string): TokenInfo | null {
    const [prefix, id] = secret.split('_')
    const token = prefix === PREFIX && id !== undefined ? this.one(id) : undefined
    const matches = sameDigest(digestOf(secret), token?.digest ?? digestOf(''))
    return token !== undefined && matches && !this.isOver(token) ? displayed(token) : null
  }

  /** Lists the caller's tokens; an administrator gets all. A token sees itself and tokens whose rights are no wider. */
  list(access: Access): TokenInfo[] {
    const all = access.may('tokens.admin')
    return this.stored()
      .filter((token) => (all || token.user === access.identity.user) && access.reaches(token))
      .map(displayed)
  }

  async add({ identity }: Access, desired: NewToken): Promise<{ token: TokenInfo; secret: string }> {
    if (identity.token !== null) throw forbidden('a token cannot create tokens; log in with the password')
    const bad = badPermission(desired.permissions)
    if (bad !== undefined) throw new OpPrereqError(`permissions: ${bad}`, ECODE.INVAL)
    if (desired.name === '' || desired.permissions.length === 0)
      throw new OpPrereqError('A token needs a name and at least one permission', ECODE.INVAL)
    await this.refuseStranger(identity.user)
    const { random, clock } = this.context
    const id = random.hex(8)
    const secret = `${PREFIX}_${id}_${random.hex(32)}`
    // A token keeps what its role allowed when it was made.
    const permissions = withoutRoles(desired.permissions)
    const token: TokenInfo = { ...desired, permissions, id, user: identity.user, created: seconds(clock) }
    // Each new token is counted before the next one is checked.
    await this.turns.runExclusive(async () => {
      this.refuseBeyond(identity.user)
      await this.write(id, { ...token, digest: digestOf(secret) })
    })
    return { token, secret }
  }

  async remove(access: Access, id: string): Promise<null> {
    const token = this.one(id)
    const mine = token !== undefined && (token.user === access.identity.user || access.may('tokens.admin'))
    if (!mine || !access.reaches(token)) throw new OpPrereqError(`There is no token ${id}`, ECODE.NOENT)
    await this.write(id, null)
    return null
  }

  /** Refuses an unknown user: a command on the master may name any user, but such a token would never work. */
  private async refuseStranger(user: string): Promise<void> {
    const { disk, paths } = this.context
    const file = paths.rapiUsers
    const users = parseUsers((await disk.read(file))?.toString('utf8') ?? '')
    if (users.has(user)) return
    const known =
      users.size === 0 ? 'the file has no users' : `it has ${[...users.keys()].slice(0, USERS_TOLD_MAX).join(', ')}`
    throw new OpPrereqError(
      `There is no user ${user} in ${file} (${known}): add a line with name, password and role`,
      ECODE.NOENT,
    )
  }

  private refuseBeyond(user: string): void {
    if (this.stored().length >= TOKENS_MAX)
      throw new OpPrereqError(`There are ${TOKENS_MAX} tokens already; revoke some first`, ECODE.NORES)
    if (this.stored().filter((token) => token.user === user).length >= TOKENS_PER_USER_MAX)
      throw new OpPrereqError(
        `The user ${user} has ${TOKENS_PER_USER_MAX} tokens already; revoke some first`,
        ECODE.NORES,
      )
  }

  private one(id: string): StoredToken | undefined {
    return recordGet(this.section(), id)
  }

  private stored(): StoredToken[] {
    return recordValues(this.section())
  }

  private section(): Dictionary<StoredToken> {
    // Only this service writes the section.
    return (this.documents.current()?.sections[TOKENS] ?? NONE) as Dictionary<StoredToken>
  }

  private isOver({ expires }: TokenInfo): boolean {
    return expires !== null && expires <= seconds(this.context.clock)
  }

  private async write(id: string, value: StoredToken | null): Promise<void> {
    const client: ClientId = ['luxid', '', 0]
    await this.context.wconfd.gantryChange(client, null, [change('setGantry', TOKENS, id, value)])
    await within(this.context.clock, TOKEN_SEEN_S, this.seen(id, value !== null))
  }

  /** Resolves when the change has reached our snapshot, so that the new token works at once. */
  private seen(id: string, present: boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if ((this.one(id) !== undefined) !== present) return
        stop()
        resolve()
      }
      const stop = this.documents.onChange(look)
      look()
    })
  }
}

const NONE: Dictionary<StoredToken> = {}

const displayed = ({ digest: _digest, ...token }: StoredToken): TokenInfo => token

const digestOf = (secret: string): string => createHash('sha256').update(secret).digest('hex')

const sameDigest = (a: string, b: string): boolean => timingSafeEqual(Buffer.from(a, 'hex'), Buffer.from(b, 'hex'))
