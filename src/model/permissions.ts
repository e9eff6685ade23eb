// A caller's permissions, as patterns: `instances.create`, `nodes.*`, `*.query`, `*`. A pattern that begins with `-`
// takes permissions away. Names and roles for Ganeti's remote API are those of its role-based access control.

const READONLY: readonly string[] = [
  ...['jobs.list', 'jobs.query', 'instances.list', 'instances.query', 'instances.info', 'nodes.list', 'nodes.query'],
  ...['nodes.role.query', 'networks.list', 'networks.query', 'groups.list', 'groups.query', 'filter.list'],
  ...['filter.query', 'cluster.info', 'tags.get', 'query.all', 'os.list'],
  // Permissions for requests that Ganeti has no permission for.
  ...[
    'cluster.balance',
    'cluster.capacity',
    'cluster.what_if',
    'os.query',
    'exports.list',
    'locks.list',
    'locks.query',
    'events.query',
    'tokens.list',
    'maintenance.query',
  ],
]

const OPERATOR: readonly string[] = [
  ...READONLY,
  ...['instances.startup', 'instances.shutdown', 'instances.reboot', 'instances.migrate', 'instances.failover'],
  ...['instances.replace_disks', 'instances.export.prepare', 'instances.export.create', 'instances.export.remove'],
  'instances.query.console',
]

/** Permissions for requests that are not opcodes. */
export const DOOR_PERMISSIONS: readonly string[] = [
  ...OPERATOR,
  ...[
    'cluster.query',
    'jobs.wait',
    'jobs.cancel',
    'jobs.archive',
    'jobs.change_priority',
    'nodes.role.modify',
    'filter.create',
    'filter.modify',
  ],
  ...['maintenance.cancel', 'maintenance.acknowledge'],
  ...['filter.remove', 'tokens.create', 'tokens.revoke', 'tokens.admin', 'users.list'],
]

/** Options of the users file that stand for many permissions; the last ones are older names. */
const ROLES: ReadonlyMap<string, readonly string[]> = new Map([
  ['@admin', ['*']],
  ['@readonly', READONLY],
  ['@operator', OPERATOR],
  ['write', ['*']],
  ['all', ['*']],
  ['read', READONLY],
])

/**
 * The permissions from a user's options. A user without a role and a permission may read, as in Ganeti. An unknown role
 * allows nothing.
 */
export function permissionsOf(options: Iterable<string>): string[] {
  const permissions: string[] = []
  for (const option of options) {
    const role = ROLES.get(option)
    if (role !== undefined) permissions.push(...role)
    else if (isPermissionPattern(option)) permissions.push(option.replace(/^\+/, ''))
  }
  const says =
    permissions.some((pattern) => !pattern.startsWith('-')) || [...options].some((one) => one.startsWith('@'))
  return says ? permissions : [...READONLY, ...permissions]
}

/** Their present names. */
export const ROLE_NAMES: readonly string[] = [...ROLES.keys()].filter((name) => name.startsWith('@'))

/** Puts the permissions of roles in their place. Unknown roles stay, and are no permissions. */
export const withoutRoles = (permissions: readonly string[]): string[] =>
  permissions.flatMap((one) => (one.startsWith('@') ? (ROLES.get(one) ?? [one]) : [one]))

/** `stronger`: a permission that includes the wanted one. */
export const allows = (permissions: readonly string[], desired: string, stronger = desired): boolean =>
  !isTaken(permissions, desired) &&
  permissions.some((pattern) => matches(pattern, desired) || matches(pattern, stronger))

/** True when a `-` pattern takes the permission away. A user who may not query an object may not read its data from a list either. */
export const isTaken = (permissions: readonly string[], desired: string): boolean =>
  permissions.some(
    (pattern) => pattern.startsWith('-') && [desired, queryOf(desired)].some((name) => matches(pattern.slice(1), name)),
  )

/** The permission to query one object. Lists show the same fields as single objects. */
export const queryOf = (permission: string): string => permission.replace(/\.(list|info)$/, '.query')

/** Permission names for kinds of objects: `nodes.list` for many, `nodes.query` for one. */
export const KINDS: ReadonlyMap<string, string> = new Map([
  ['instance', 'instances'],
  ['node', 'nodes'],
  ['group', 'groups'],
  ['network', 'networks'],
  ['job', 'jobs'],
  ['os', 'os'],
  ['filter', 'filter'],
  ['lock', 'locks'],
  ['export', 'exports'],
])

export const isPermissionPattern = (text: string): boolean => PERMISSION_PATTERN.test(text)

export const PERMISSION_PATTERN = /^(\*|[+-]?(\*|[a-z_]+)(\.[a-z_]+)*(\.\*|\.[a-z_]+))$/

/** An asterisk stands for any first part, or for everything after it. */
export function matches(pattern: string, desired: string): boolean {
  if (pattern === '*' || pattern === desired) return true
  if (pattern === '*.*') return true
  if (pattern.endsWith('.*')) return desired.startsWith(pattern.slice(0, -1))
  return pattern.startsWith('*.') && desired.slice(desired.indexOf('.')) === pattern.slice(1)
}
