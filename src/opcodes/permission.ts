// The permissions that the submitter of an opcode needs, and all that there are.
import { DOOR_PERMISSIONS, isPermissionPattern, matches } from '../model/permissions'
import { allOpcodes, definitionOf } from './all'
import { opcodesInside } from './objects'

/** All that an opcode needs, by what it is and by what it is asked to do. */
export function permissionsFor(op: AskedOp): string[] {
  const { permission, alsoNeeds } = definitionOf(op.OP_ID)
  return [permission, ...alsoNeeds(op), ...(isUrgent(op) ? ['jobs.change_priority'] : [])]
}

/** Goes before the jobs of others, also as one of several that an opcode submits. */
function isUrgent(op: AskedOp): boolean {
  const { priority } = op
  return (typeof priority === 'number' && priority < 0) || opcodesInside(op).some(isUrgent)
}

interface AskedOp {
  readonly OP_ID: string
  readonly [parameter: string]: unknown
}

/** Every permission there is, by name. */
export const permissionNames: readonly string[] = [
  ...new Set([...DOOR_PERMISSIONS, ...[...allOpcodes.values()].map(({ permission }) => permission)]),
].sort()

/** Finds a mistake in the patterns for a token: a pattern that fits no permission is a slip, and would never allow anything. */
export function badPermission(patterns: readonly string[]): string | undefined {
  const wrong = patterns.find((pattern) => !isPermissionPattern(pattern) || !fitsAny(pattern.replace(/^[+-]/, '')))
  if (wrong === undefined) return undefined
  return `'${wrong}' is no permission; ${PERMISSION_FORMS}; the permissions are ${permissionNames.join(', ')}`
}

const fitsAny = (pattern: string): boolean => permissionNames.some((name) => matches(pattern, name))

export const PERMISSION_FORMS =
  '"nodes.*" stands for all of a kind, "*.query" for one of every kind, "*" for everything, and "-" before one takes it away'
