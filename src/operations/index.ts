// What carries out each opcode, loaded when it is first asked for: a process uses few of them, and all together they are half of what
// it would load. The type makes the table complete: a new opcode does not compile until it has a line here.
import { GenericError } from '../model/errors'
import type { OpcodeId } from '../opcodes/index'
import type { LogicalUnit } from './logical-unit'

const units: Readonly<Record<OpcodeId, () => Promise<LogicalUnit>>> = {
  OP_BACKUP_PREPARE: async () => (await import('./backup/prepare.js')).backupPrepare,
  OP_BACKUP_EXPORT: async () => (await import('./backup/export.js')).backupExport,
  OP_BACKUP_REMOVE: async () => (await import('./backup/remove.js')).backupRemove,
  OP_CLUSTER_BALANCE: async () => (await import('./cluster/questions.js')).clusterBalance,
  OP_CLUSTER_CAPACITY: async () => (await import('./cluster/questions.js')).clusterCapacity,
  OP_CLUSTER_WHAT_IF: async () => (await import('./cluster/questions.js')).clusterWhatIf,
  OP_CLUSTER_POST_INIT: async () => (await import('./cluster/query.js')).clusterPostInit,
  OP_CLUSTER_DESTROY: async () => (await import('./cluster/destroy.js')).clusterDestroy,
  OP_CLUSTER_QUERY: async () => (await import('./cluster/query.js')).clusterQuery,
  OP_CLUSTER_VERIFY: async () => (await import('./cluster/verify/verify.js')).clusterVerify,
  OP_CLUSTER_VERIFY_CONFIG: async () => (await import('./cluster/verify/verify-config.js')).clusterVerifyConfig,
  OP_CLUSTER_VERIFY_GROUP: async () => (await import('./cluster/verify/verify-group.js')).clusterVerifyGroup,
  OP_CLUSTER_VERIFY_DISKS: async () => (await import('./cluster/verify/verify.js')).clusterVerifyDisks,
  OP_CLUSTER_REPAIR_DISK_SIZES: async () => (await import('./cluster/repair-disk-sizes.js')).clusterRepairDiskSizes,
  OP_CLUSTER_CONFIG_QUERY: async () => (await import('./cluster/query.js')).clusterConfigQuery,
  OP_CLUSTER_RENAME: async () => (await import('./cluster/rename.js')).clusterRename,
  OP_CLUSTER_SET_PARAMS: async () => (await import('./cluster/set-params/set-params.js')).clusterSetParams,
  OP_CLUSTER_REDIST_CONF: async () => (await import('./cluster/redist-conf.js')).clusterRedistConf,
  OP_CLUSTER_ACTIVATE_MASTER_IP: async () => (await import('./cluster/master-ip.js')).clusterActivateMasterIp,
  OP_CLUSTER_DEACTIVATE_MASTER_IP: async () => (await import('./cluster/master-ip.js')).clusterDeactivateMasterIp,
  OP_CLUSTER_RENEW_CRYPTO: async () => (await import('./cluster/renew-crypto.js')).clusterRenewCrypto,
  OP_GROUP_VERIFY_DISKS: async () => (await import('./cluster/verify/group-disks.js')).groupVerifyDisks,
  OP_GROUP_ADD: async () => (await import('./group/add.js')).groupAdd,
  OP_GROUP_ASSIGN_NODES: async () => (await import('./group/assign-nodes.js')).groupAssignNodes,
  OP_GROUP_SET_PARAMS: async () => (await import('./group/set-params.js')).groupSetParams,
  OP_GROUP_REMOVE: async () => (await import('./group/remove.js')).groupRemove,
  OP_GROUP_RENAME: async () => (await import('./group/rename.js')).groupRename,
  OP_GROUP_EVACUATE: async () => (await import('./group/evacuate.js')).groupEvacuate,
  OP_INSTANCE_CREATE: async () => (await import('./instance/create.js')).instanceCreate,
  OP_INSTANCE_MULTI_ALLOC: async () => (await import('./instance/multi-alloc.js')).instanceMultiAlloc,
  OP_INSTANCE_REINSTALL: async () => (await import('./instance/reinstall.js')).instanceReinstall,
  OP_INSTANCE_REMOVE: async () => (await import('./instance/remove.js')).instanceRemove,
  OP_INSTANCE_RENAME: async () => (await import('./instance/rename.js')).instanceRename,
  OP_INSTANCE_STARTUP: async () => (await import('./instance/startup.js')).instanceStartup,
  OP_INSTANCE_SHUTDOWN: async () => (await import('./instance/shutdown.js')).instanceShutdown,
  OP_INSTANCE_REBOOT: async () => (await import('./instance/reboot.js')).instanceReboot,
  OP_INSTANCE_REPLACE_DISKS: async () => (await import('./instance/replace-disks.js')).instanceReplaceDisks,
  OP_INSTANCE_FAILOVER: async () => (await import('./instance/failover.js')).instanceFailover,
  OP_INSTANCE_MIGRATE: async () => (await import('./instance/migrate.js')).instanceMigrate,
  OP_INSTANCE_MOVE: async () => (await import('./instance/move.js')).instanceMove,
  OP_INSTANCE_CONSOLE: async () => (await import('./instance/console.js')).instanceConsole,
  OP_INSTANCE_ACTIVATE_DISKS: async () => (await import('./instance/activate-disks.js')).instanceActivateDisks,
  OP_INSTANCE_DEACTIVATE_DISKS: async () => (await import('./instance/activate-disks.js')).instanceDeactivateDisks,
  OP_INSTANCE_RECREATE_DISKS: async () => (await import('./instance/recreate-disks.js')).instanceRecreateDisks,
  OP_INSTANCE_QUERY_DATA: async () => (await import('./instance/query-data.js')).instanceQueryData,
  OP_INSTANCE_SET_PARAMS: async () => (await import('./instance/set-params.js')).instanceSetParams,
  OP_INSTANCE_GROW_DISK: async () => (await import('./instance/grow-disk.js')).instanceGrowDisk,
  OP_INSTANCE_CHANGE_GROUP: async () => (await import('./instance/change-group.js')).instanceChangeGroup,
  OP_NETWORK_ADD: async () => (await import('./network/add.js')).networkAdd,
  OP_NETWORK_REMOVE: async () => (await import('./network/remove.js')).networkRemove,
  OP_NETWORK_RENAME: async () => (await import('./network/rename.js')).networkRename,
  OP_NETWORK_SET_PARAMS: async () => (await import('./network/set-params.js')).networkSetParams,
  OP_NETWORK_CONNECT: async () => (await import('./network/connect.js')).networkConnect,
  OP_NETWORK_DISCONNECT: async () => (await import('./network/connect.js')).networkDisconnect,
  OP_OOB_COMMAND: async () => (await import('./node/oob.js')).oobCommand,
  OP_RESTRICTED_COMMAND: async () => (await import('./node/restricted-command.js')).restrictedCommand,
  OP_NODE_REMOVE: async () => (await import('./node/remove.js')).nodeRemove,
  OP_NODE_ADD: async () => (await import('./node/add.js')).nodeAdd,
  OP_NODE_QUERYVOLS: async () => (await import('./node/query-volumes.js')).nodeQueryVolumes,
  OP_NODE_QUERY_STORAGE: async () => (await import('./node/storage.js')).nodeQueryStorage,
  OP_NODE_MODIFY_STORAGE: async () => (await import('./node/storage.js')).nodeModifyStorage,
  OP_REPAIR_NODE_STORAGE: async () => (await import('./node/storage.js')).repairNodeStorage,
  OP_NODE_SET_PARAMS: async () => (await import('./node/set-params.js')).nodeSetParams,
  OP_NODE_POWERCYCLE: async () => (await import('./node/powercycle.js')).nodePowercycle,
  OP_NODE_MIGRATE: async () => (await import('./node/migrate.js')).nodeMigrate,
  OP_NODE_EVACUATE: async () => (await import('./node/evacuate.js')).nodeEvacuate,
  OP_OS_DIAGNOSE: async () => (await import('./os/diagnose.js')).osDiagnose,
  OP_EXT_STORAGE_DIAGNOSE: async () => (await import('./os/diagnose.js')).extStorageDiagnose,
  OP_QUERY: async () => (await import('./query/query.js')).query,
  OP_QUERY_FIELDS: async () => (await import('./query/query.js')).queryFields,
  OP_TAGS_GET: async () => (await import('./tags/get.js')).tagsGet,
  OP_TAGS_SEARCH: async () => (await import('./tags/search.js')).tagsSearch,
  OP_TAGS_SET: async () => (await import('./tags/change.js')).tagsSet,
  OP_TAGS_DEL: async () => (await import('./tags/change.js')).tagsDel,
  OP_TEST_DELAY: async () => (await import('./test/delay.js')).testDelay,
  OP_TEST_ALLOCATOR: async () => (await import('./test/allocator.js')).testAllocator,
  OP_TEST_JQUEUE: async () => (await import('./test/jqueue.js')).testJqueue,
  OP_TEST_OS_PARAMS: async () => (await import('./test/small.js')).testOsParams,
  OP_TEST_DUMMY: async () => (await import('./test/small.js')).testDummy,
}

const isKnown = (id: string): id is OpcodeId => Object.hasOwn(units, id)

/** To import again what is loaded already costs as much as a call of wconfd. */
const loaded = new Map<OpcodeId, LogicalUnit>()

export async function unitFor(id: string): Promise<LogicalUnit> {
  if (isKnown(id)) {
    const unit = loaded.get(id) ?? (await units[id]())
    loaded.set(id, unit)
    return unit
  }
  throw new GenericError(`There is no opcode ${id}`)
}
