// What carries out each opcode. The type makes the map complete: a new opcode does not compile until it has a line here.
import { GenericError } from '../model/errors'
import type { OpcodeId } from '../opcodes/index'
import type { LogicalUnit } from './logical-unit'
import { testDelay } from './test/delay'

/** An opcode that can be described but not yet carried out: refused when it is submitted. */
const notYet = 'not yet'

const units: Readonly<Record<OpcodeId, LogicalUnit | typeof notYet>> = {
  OP_BACKUP_PREPARE: notYet,
  OP_BACKUP_EXPORT: notYet,
  OP_BACKUP_REMOVE: notYet,
  OP_CLUSTER_POST_INIT: notYet,
  OP_CLUSTER_DESTROY: notYet,
  OP_CLUSTER_QUERY: notYet,
  OP_CLUSTER_VERIFY: notYet,
  OP_CLUSTER_VERIFY_CONFIG: notYet,
  OP_CLUSTER_VERIFY_GROUP: notYet,
  OP_CLUSTER_VERIFY_DISKS: notYet,
  OP_CLUSTER_REPAIR_DISK_SIZES: notYet,
  OP_CLUSTER_CONFIG_QUERY: notYet,
  OP_CLUSTER_RENAME: notYet,
  OP_CLUSTER_SET_PARAMS: notYet,
  OP_CLUSTER_REDIST_CONF: notYet,
  OP_CLUSTER_ACTIVATE_MASTER_IP: notYet,
  OP_CLUSTER_DEACTIVATE_MASTER_IP: notYet,
  OP_CLUSTER_RENEW_CRYPTO: notYet,
  OP_GROUP_VERIFY_DISKS: notYet,
  OP_GROUP_ADD: notYet,
  OP_GROUP_ASSIGN_NODES: notYet,
  OP_GROUP_SET_PARAMS: notYet,
  OP_GROUP_REMOVE: notYet,
  OP_GROUP_RENAME: notYet,
  OP_GROUP_EVACUATE: notYet,
  OP_INSTANCE_CREATE: notYet,
  OP_INSTANCE_MULTI_ALLOC: notYet,
  OP_INSTANCE_REINSTALL: notYet,
  OP_INSTANCE_REMOVE: notYet,
  OP_INSTANCE_RENAME: notYet,
  OP_INSTANCE_STARTUP: notYet,
  OP_INSTANCE_SHUTDOWN: notYet,
  OP_INSTANCE_REBOOT: notYet,
  OP_INSTANCE_REPLACE_DISKS: notYet,
  OP_INSTANCE_FAILOVER: notYet,
  OP_INSTANCE_MIGRATE: notYet,
  OP_INSTANCE_MOVE: notYet,
  OP_INSTANCE_CONSOLE: notYet,
  OP_INSTANCE_ACTIVATE_DISKS: notYet,
  OP_INSTANCE_DEACTIVATE_DISKS: notYet,
  OP_INSTANCE_RECREATE_DISKS: notYet,
  OP_INSTANCE_QUERY_DATA: notYet,
  OP_INSTANCE_SET_PARAMS: notYet,
  OP_INSTANCE_GROW_DISK: notYet,
  OP_INSTANCE_CHANGE_GROUP: notYet,
  OP_NETWORK_ADD: notYet,
  OP_NETWORK_REMOVE: notYet,
  OP_NETWORK_RENAME: notYet,
  OP_NETWORK_SET_PARAMS: notYet,
  OP_NETWORK_CONNECT: notYet,
  OP_NETWORK_DISCONNECT: notYet,
  OP_OOB_COMMAND: notYet,
  OP_RESTRICTED_COMMAND: notYet,
  OP_NODE_REMOVE: notYet,
  OP_NODE_ADD: notYet,
  OP_NODE_QUERYVOLS: notYet,
  OP_NODE_QUERY_STORAGE: notYet,
  OP_NODE_MODIFY_STORAGE: notYet,
  OP_REPAIR_NODE_STORAGE: notYet,
  OP_NODE_SET_PARAMS: notYet,
  OP_NODE_POWERCYCLE: notYet,
  OP_NODE_MIGRATE: notYet,
  OP_NODE_EVACUATE: notYet,
  OP_OS_DIAGNOSE: notYet,
  OP_EXT_STORAGE_DIAGNOSE: notYet,
  OP_QUERY: notYet,
  OP_QUERY_FIELDS: notYet,
  OP_TAGS_GET: notYet,
  OP_TAGS_SEARCH: notYet,
  OP_TAGS_SET: notYet,
  OP_TAGS_DEL: notYet,
  OP_TEST_DELAY: testDelay,
  OP_TEST_ALLOCATOR: notYet,
  OP_TEST_JQUEUE: notYet,
  OP_TEST_OS_PARAMS: notYet,
  OP_TEST_DUMMY: notYet,
}

const isKnown = (id: string): id is OpcodeId => Object.hasOwn(units, id)

/** Whether an opcode can be carried out; doors refuse the others with `notImplementedText`. */
export const implemented = (id: string): boolean => isKnown(id) && units[id] !== notYet

export const notImplementedText = (id: string): string =>
  `Opcode ${id} is known, but this version cannot carry it out yet`

export function unitFor(id: string): LogicalUnit {
  const unit = isKnown(id) ? units[id] : notYet
  if (unit === notYet) throw new GenericError(notImplementedText(id))
  return unit
}
