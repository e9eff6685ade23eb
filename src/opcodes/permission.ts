// The permission that an opcode needs. Ganeti's remote API has names for what it can do; the others follow from their ids:
// OP_INSTANCE_MOVE -> instances.move.
import { DOOR_PERMISSIONS, isPermissionPattern, matches } from '../model/permissions'
import { isObject } from './check'
import { opcodeIds } from './index'

const KINDS: readonly (readonly [prefix: string, kind: string])[] = [
  ['INSTANCE_', 'instances'],
  ['NODE_', 'nodes'],
  ['GROUP_', 'groups'],
  ['NETWORK_', 'networks'],
  ['CLUSTER_', 'cluster'],
  ['TEST_', 'tests'],
]

/** Where the id does not say it. */
const NAMES: ReadonlyMap<string, string> = new Map([
  ['OP_BACKUP_PREPARE', 'instances.export.prepare'],
  ['OP_BACKUP_EXPORT', 'instances.export.create'],
  ['OP_BACKUP_REMOVE', 'instances.export.remove'],
  ['OP_INSTANCE_CONSOLE', 'instances.query.console'],
  ['OP_INSTANCE_QUERY_DATA', 'instances.info'],
  ['OP_INSTANCE_SET_PARAMS', 'instances.modify'],
  ['OP_NODE_SET_PARAMS', 'nodes.modify'],
  ['OP_NODE_QUERYVOLS', 'nodes.storage.query'],
  ['OP_NODE_QUERY_STORAGE', 'nodes.storage.query'],
  ['OP_NODE_MODIFY_STORAGE', 'nodes.storage.modify'],
  ['OP_REPAIR_NODE_STORAGE', 'nodes.storage.repair'],
  ['OP_OOB_COMMAND', 'nodes.oob'],
  ['OP_RESTRICTED_COMMAND', 'nodes.restricted_command'],
  ['OP_GROUP_ADD', 'groups.create'],
  ['OP_GROUP_REMOVE', 'groups.delete'],
  ['OP_GROUP_SET_PARAMS', 'groups.modify'],
  ['OP_NETWORK_ADD', 'networks.create'],
  ['OP_NETWORK_SET_PARAMS', 'networks.modify'],
  ['OP_CLUSTER_QUERY', 'cluster.info'],
  ['OP_CLUSTER_CONFIG_QUERY', 'cluster.info'],
  ['OP_CLUSTER_SET_PARAMS', 'cluster.modify'],
  ['OP_CLUSTER_REDIST_CONF', 'cluster.redistribute_config'],
  ['OP_TAGS_GET', 'tags.get'],
  ['OP_TAGS_SEARCH', 'tags.get'],
  ['OP_TAGS_SET', 'tags.set'],
  ['OP_TAGS_DEL', 'tags.delete'],
  ['OP_OS_DIAGNOSE', 'os.list'],
  ['OP_EXT_STORAGE_DIAGNOSE', 'os.list'],
  ['OP_QUERY', 'query.all'],
  ['OP_QUERY_FIELDS', 'query.all'],
])

export function permissionOf(id: string): string {
  const known = NAMES.get(id)
  if (known !== undefined) return known
  const name = id.replace(/^OP_/, '')
  const [prefix, kind] = KINDS.find(([start]) => name.startsWith(start)) ?? ['', 'cluster']
  return `${kind}.${name.slice(prefix.length).toLowerCase()}`
}

/** All that an opcode needs, by what it is and by what it is asked to do. */
export const permissionsFor = (op: AskedOp): string[] => [
  ...[op.OP_ID, ...alsoDone(op)].map(permissionOf),
  ...(isUrgent(op) ? ['jobs.change_priority'] : []),
]

/** Goes before the jobs of others, also as one of several that an opcode submits. */
function isUrgent({ priority, instances }: { readonly [parameter: string]: unknown }): boolean {
  const inside: readonly unknown[] = Array.isArray(instances) ? instances : []
  return (typeof priority === 'number' && priority < 0) || inside.some((one) => isObject(one) && isUrgent(one))
}

interface AskedOp {
  readonly OP_ID: string
  readonly [parameter: string]: unknown
}

/** Opcodes that stand for effects which the opcode's name does not tell. For example, parameters of a start can make QEMU do anything on its node. */
function alsoDone(op: AskedOp): string[] {
  const changes = [op['hvparams'], op['beparams']].some((given) => isObject(given) && Object.keys(given).length > 0)
  switch (op.OP_ID) {
    case 'OP_INSTANCE_STARTUP':
      return changes ? ['OP_INSTANCE_SET_PARAMS'] : []
    case 'OP_BACKUP_EXPORT':
      return op['remove_instance'] === true ? ['OP_INSTANCE_REMOVE'] : []
    case 'OP_INSTANCE_MIGRATE':
      return op['allow_failover'] === true ? ['OP_INSTANCE_FAILOVER'] : []
    case 'OP_INSTANCE_MULTI_ALLOC':
      return ['OP_INSTANCE_CREATE']
    default:
      return []
  }
}

/** Whether it submits jobs for instances that it does not name: its permission says nothing about these. */
export const actsOnOthers = ({ OP_ID }: AskedOp): boolean => ACTING_ON_OTHERS.has(OP_ID)

const ACTING_ON_OTHERS: ReadonlySet<string> = new Set([
  ...['OP_NODE_MIGRATE', 'OP_NODE_EVACUATE', 'OP_GROUP_EVACUATE', 'OP_TEST_DUMMY'],
])

/** Every permission there is, by name. */
export const permissionNames: readonly string[] = [
  ...new Set([...DOOR_PERMISSIONS, ...opcodeIds.map(permissionOf)]),
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
