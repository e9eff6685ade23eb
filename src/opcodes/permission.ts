// The permissions that an opcode's submitter needs, and the list of all permissions.
import { DOOR_PERMISSIONS, isPermissionPattern, matches } from '../model/permissions'
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
  const wrong = patterns.find((pattern) => !isPermissionPattern(pattern) || !fitsAny(pattern.replace(/^[+-]/, '')))
  if (wrong === undefined) return undefined
  return `'${wrong}' is no permission; ${PERMISSION_FORMS}; the permissions are ${permissionNames.join(', ')}`
}

const fitsAny = (pattern: string): boolean => permissionNames.some((name) => matches(pattern, name))

export const PERMISSION_FORMS =
  '"nodes.*" stands for all of a kind, "*.query" for one of every kind, "*" for everything, and "-" before one takes it away'
