// The permissions that an opcode's submitter needs, and the list of all permissions.
import { DOOR_PERMISSIONS, isPermissionPattern, matches, withoutRoles } from '../model/permissions'
import { allOpcodes, definitionOf } from './all'
import { opcodesInside } from './objects'

/** All permissions for an opcode, by its kind and its parameters. */
export function permissionsFor(op: AskedOp): string[] {
  const { permission, alsoNeeds } = definitionOf(op.OP_ID)
  return [permission, ...alsoNeeds(op), ...(isUrgent(op) ? ['jobs.change_priority'] : [])]
}

/** Whether it overtakes others' jobs, also as one of several submitted by an opcode. */
function isUrgent(op: AskedOp): boolean {
  const { priority } = op
  return (typeof priority === 'number' && priority < 0) || opcodesInside(op).some(isUrgent)
}

interface AskedOp {
  readonly OP_ID: string
  readonly [parameter: string]: unknown
}

/** All permissions, by name. */
export const permissionNames: readonly string[] = [
  ...new Set([...DOOR_PERMISSIONS, ...[...allOpcodes.values()].map(({ permission }) => permission)]),
].sort()

/** Finds a mistake in a token's patterns: a pattern that fits no permission would never allow anything. */
export function badPermission(patterns: readonly string[]): string | undefined {
  const wrong = withoutRoles(patterns).find(
    (pattern) => !isPermissionPattern(pattern) || !fitsAny(pattern.replace(/^[+-]/, '')),
  )
  if (wrong === undefined) return undefined
  const like = permissionNames.filter((name) => isLike(name, wrong)).slice(0, LIKE_MAX)
  const near = like.length === 0 ? '' : `; it is like ${like.join(', ')}`
  return `'${wrong}' is no permission${near}; ${PERMISSION_FORMS}; "gnt token permissions" lists all`
}

const fitsAny = (pattern: string): boolean => permissionNames.some((name) => matches(pattern, name))

const LIKE_MAX = 5

/** Whether the name has the same last word, or begins with the same letters. */
function isLike(name: string, wrong: string): boolean {
  const [kind = '', verb] = wrong.replace(/^[+-]/, '').split('.')
  return verb === undefined
    ? kind !== '' && name.includes(kind)
    : name.endsWith(`.${verb}`) && name.startsWith(kind.slice(0, 3))
}

export const PERMISSION_FORMS =
  '"@readonly", "@operator" and "@admin" are roles, "nodes.*" stands for all of a kind, "*.query" for one of every kind, "*" for everything, and "-" before one takes it away'
