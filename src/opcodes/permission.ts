// The permission that an opcode needs follows from its id: OP_INSTANCE_CREATE -> instances.create. What only reads is `query`.

const KINDS: readonly (readonly [prefix: string, kind: string])[] = [
  ['INSTANCE_', 'instances'],
  ['NODE_', 'nodes'],
  ['GROUP_', 'groups'],
  ['NETWORK_', 'networks'],
  ['CLUSTER_', 'cluster'],
  ['BACKUP_', 'backups'],
  ['TAGS_', 'tags'],
  ['OS_', 'os'],
  ['TEST_', 'tests'],
]

/** Where the id does not say it. */
const SPECIAL: Readonly<Record<string, string>> = {
  OP_QUERY: 'cluster.query',
  OP_QUERY_FIELDS: 'cluster.query',
  OP_CLUSTER_CONFIG_QUERY: 'cluster.query',
  OP_INSTANCE_QUERY_DATA: 'instances.query',
  OP_NODE_QUERYVOLS: 'nodes.query',
  OP_NODE_QUERY_STORAGE: 'nodes.query',
  OP_TAGS_GET: 'tags.query',
  OP_TAGS_SEARCH: 'tags.query',
  OP_OS_DIAGNOSE: 'os.query',
  OP_EXT_STORAGE_DIAGNOSE: 'os.query',
  OP_OOB_COMMAND: 'nodes.oob',
  OP_RESTRICTED_COMMAND: 'nodes.restricted-command',
  OP_REPAIR_NODE_STORAGE: 'nodes.repair-storage',
}

export function permissionOf(id: string): string {
  const special = SPECIAL[id]
  if (special !== undefined) return special
  const name = id.replace(/^OP_/, '')
  const [prefix, kind] = KINDS.find(([start]) => name.startsWith(start)) ?? ['', 'cluster']
  return `${kind}.${name.slice(prefix.length).toLowerCase().replaceAll('_', '-')}`
}
