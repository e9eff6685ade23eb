// Identifies callers with a password, and checks what they may do.
import { isPermissionPattern, permissionsOf } from '../../model/permissions'
import { badRequest, HttpError } from '../../http/errors'
import type { Verify } from '../../http/passport'
import type { LoginThrottle } from './login-throttle'
import { type Credentials, REALM, type User, type UsersFile } from './users'

export const CHALLENGE = `Basic realm="${REALM}"`

/** Users with a password. passport-http would cut a password at its first colon. */
export const passwordsOf =
  (users: UsersFile, turns: LoginThrottle): Verify<User> =>
  ({ headers: { authorization: header }, socket }) => {
    if (header === undefined) return undefined
    if (/^basic\s*$/i.test(header)) throw badRequest('Basic authentication requires credentials')
    const login = readLogin(header)
    if (login === undefined) throw new HttpError(401)
    return users.recall(login) ?? inTurn(users, turns, login, socket.remoteAddress)
  }

async function inTurn(
  users: UsersFile,
  turns: LoginThrottle,
  login: Credentials,
  remote: string | undefined,
): Promise<User> {
  const displayed = users.digest(login)
  const user = await turns.take(remote, { user: login.name, shown: displayed }, async () => users.verify(login))
  if (user === undefined) throw new HttpError(401)
  return user
}

function readLogin(header: string): Credentials | undefined {
  const [, encoded] = /^basic +(\S+)\s*$/i.exec(header) ?? []
  const text = encoded === undefined ? '' : Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  return colon === -1 ? undefined : { name: text.slice(0, colon), password: text.slice(colon + 1) }
}

/** Throws 401 without a user and 403 for a user without the right. Without `allowed` options, anyone may. */
export function checkAccess(user: User | undefined, allowed: readonly string[]): void {
  if (allowed.length === 0) return
  if (user === undefined) throw new HttpError(401)
  if (allowed.some((option) => user.options.has(option))) return
  // For roles, the permission is checked later, when the action is known.
  if (!mayEverything(user) && rolesOf(user) === undefined) throw new HttpError(403)
}

/** The roles and permissions of a user; undefined for a user with only Ganeti's older options, or none. */
export function rolesOf(user: User | undefined): readonly string[] | undefined {
  if (user === undefined || mayEverything(user)) return undefined
  const hasRoles = [...user.options].some((option) => option.startsWith('@') || isPermissionPattern(option))
  return hasRoles ? permissionsOf(user.options) : undefined
}

/** A user with denied permissions is checked in detail. */
const mayEverything = ({ options }: User): boolean =>
  (options.has('write') || options.has('all')) && ![...options].some((option) => option.startsWith('-'))
