// What carries out each opcode. The type makes the map complete: a new opcode does not compile until it has a line here.
import { GenericError } from '../model/errors'
import type { OpcodeId } from '../opcodes/index'
import type { LogicalUnit } from './logical-unit'
import { backupExport } from './backup/export'
import { backupPrepare } from './backup/prepare'
import { backupRemove } from './backup/remove'
import { clusterActivateMasterIp, clusterDeactivateMasterIp } from './cluster/master-ip'
import { clusterConfigQuery, clusterPostInit, clusterQuery } from './cluster/query'
import { clusterRedistConf } from './cluster/redist-conf'
import { clusterDestroy } from './cluster/destroy'
import { clusterRename } from './cluster/rename'
import { clusterRenewCrypto } from './cluster/renew-crypto'
import { clusterRepairDiskSizes } from './cluster/repair-disk-sizes'
import { clusterSetParams } from './cluster/set-params/set-params'
import { groupVerifyDisks } from './cluster/verify/group-disks'
import { clusterVerify, clusterVerifyDisks } from './cluster/verify/verify'
import { clusterVerifyConfig } from './cluster/verify/verify-config'
import { clusterVerifyGroup } from './cluster/verify/verify-group'
import { groupAdd } from './group/add'
import { groupAssignNodes } from './group/assign-nodes'
import { groupEvacuate } from './group/evacuate'
import { groupRemove } from './group/remove'
import { groupRename } from './group/rename'
import { groupSetParams } from './group/set-params'
import { instanceActivateDisks, instanceDeactivateDisks } from './instance/activate-disks'
import { instanceChangeGroup } from './instance/change-group'
import { instanceConsole } from './instance/console'
import { instanceCreate } from './instance/create'
import { instanceFailover } from './instance/failover'
import { instanceMigrate } from './instance/migrate'
import { instanceMove } from './instance/move'
import { instanceMultiAlloc } from './instance/multi-alloc'
import { instanceQueryData } from './instance/query-data'
import { instanceReboot } from './instance/reboot'
import { instanceRemove } from './instance/remove'
import { instanceReplaceDisks } from './instance/replace-disks'
import { instanceShutdown } from './instance/shutdown'
import { instanceStartup } from './instance/startup'
import { networkAdd } from './network/add'
import { networkConnect, networkDisconnect } from './network/connect'
import { networkRemove } from './network/remove'
import { networkRename } from './network/rename'
import { networkSetParams } from './network/set-params'
import { nodeAdd } from './node/add'
import { nodeEvacuate } from './node/evacuate'
import { nodeMigrate } from './node/migrate'
import { oobCommand } from './node/oob'
import { nodePowercycle } from './node/powercycle'
import { nodeQueryVolumes } from './node/query-volumes'
import { nodeRemove } from './node/remove'
import { restrictedCommand } from './node/restricted-command'
import { nodeSetParams } from './node/set-params'
import { nodeModifyStorage, nodeQueryStorage, repairNodeStorage } from './node/storage'
import { extStorageDiagnose, osDiagnose } from './os/diagnose'
import { query, queryFields } from './query/query'
import { tagsDel, tagsSet } from './tags/change'
import { tagsGet } from './tags/get'
import { tagsSearch } from './tags/search'
import { testAllocator } from './test/allocator'
import { testDelay } from './test/delay'
import { testJqueue } from './test/jqueue'
import { testDummy, testOsParams } from './test/small'
import { instanceSetParams } from './instance/set-params'
import { instanceGrowDisk } from './instance/grow-disk'
import { instanceRename } from './instance/rename'
import { instanceReinstall } from './instance/reinstall'
import { instanceRecreateDisks } from './instance/recreate-disks'

const units: Readonly<Record<OpcodeId, LogicalUnit>> = {
  OP_BACKUP_PREPARE: backupPrepare,
  OP_BACKUP_EXPORT: backupExport,
  OP_BACKUP_REMOVE: backupRemove,
  OP_CLUSTER_POST_INIT: clusterPostInit,
  OP_CLUSTER_DESTROY: clusterDestroy,
  OP_CLUSTER_QUERY: clusterQuery,
  OP_CLUSTER_VERIFY: clusterVerify,
  OP_CLUSTER_VERIFY_CONFIG: clusterVerifyConfig,
  OP_CLUSTER_VERIFY_GROUP: clusterVerifyGroup,
  OP_CLUSTER_VERIFY_DISKS: clusterVerifyDisks,
  OP_CLUSTER_REPAIR_DISK_SIZES: clusterRepairDiskSizes,
  OP_CLUSTER_CONFIG_QUERY: clusterConfigQuery,
  OP_CLUSTER_RENAME: clusterRename,
  OP_CLUSTER_SET_PARAMS: clusterSetParams,
  OP_CLUSTER_REDIST_CONF: clusterRedistConf,
  OP_CLUSTER_ACTIVATE_MASTER_IP: clusterActivateMasterIp,
  OP_CLUSTER_DEACTIVATE_MASTER_IP: clusterDeactivateMasterIp,
  OP_CLUSTER_RENEW_CRYPTO: clusterRenewCrypto,
  OP_GROUP_VERIFY_DISKS: groupVerifyDisks,
  OP_GROUP_ADD: groupAdd,
  OP_GROUP_ASSIGN_NODES: groupAssignNodes,
  OP_GROUP_SET_PARAMS: groupSetParams,
  OP_GROUP_REMOVE: groupRemove,
  OP_GROUP_RENAME: groupRename,
  OP_GROUP_EVACUATE: groupEvacuate,
  OP_INSTANCE_CREATE: instanceCreate,
  OP_INSTANCE_MULTI_ALLOC: instanceMultiAlloc,
  OP_INSTANCE_REINSTALL: instanceReinstall,
  OP_INSTANCE_REMOVE: instanceRemove,
  OP_INSTANCE_RENAME: instanceRename,
  OP_INSTANCE_STARTUP: instanceStartup,
  OP_INSTANCE_SHUTDOWN: instanceShutdown,
  OP_INSTANCE_REBOOT: instanceReboot,
  OP_INSTANCE_REPLACE_DISKS: instanceReplaceDisks,
  OP_INSTANCE_FAILOVER: instanceFailover,
  OP_INSTANCE_MIGRATE: instanceMigrate,
  OP_INSTANCE_MOVE: instanceMove,
  OP_INSTANCE_CONSOLE: instanceConsole,
  OP_INSTANCE_ACTIVATE_DISKS: instanceActivateDisks,
  OP_INSTANCE_DEACTIVATE_DISKS: instanceDeactivateDisks,
  OP_INSTANCE_RECREATE_DISKS: instanceRecreateDisks,
  OP_INSTANCE_QUERY_DATA: instanceQueryData,
  OP_INSTANCE_SET_PARAMS: instanceSetParams,
  OP_INSTANCE_GROW_DISK: instanceGrowDisk,
  OP_INSTANCE_CHANGE_GROUP: instanceChangeGroup,
  OP_NETWORK_ADD: networkAdd,
  OP_NETWORK_REMOVE: networkRemove,
  OP_NETWORK_RENAME: networkRename,
  OP_NETWORK_SET_PARAMS: networkSetParams,
  OP_NETWORK_CONNECT: networkConnect,
  OP_NETWORK_DISCONNECT: networkDisconnect,
  OP_OOB_COMMAND: oobCommand,
  OP_RESTRICTED_COMMAND: restrictedCommand,
  OP_NODE_REMOVE: nodeRemove,
  OP_NODE_ADD: nodeAdd,
  OP_NODE_QUERYVOLS: nodeQueryVolumes,
  OP_NODE_QUERY_STORAGE: nodeQueryStorage,
  OP_NODE_MODIFY_STORAGE: nodeModifyStorage,
  OP_REPAIR_NODE_STORAGE: repairNodeStorage,
  OP_NODE_SET_PARAMS: nodeSetParams,
  OP_NODE_POWERCYCLE: nodePowercycle,
  OP_NODE_MIGRATE: nodeMigrate,
  OP_NODE_EVACUATE: nodeEvacuate,
  OP_OS_DIAGNOSE: osDiagnose,
  OP_EXT_STORAGE_DIAGNOSE: extStorageDiagnose,
  OP_QUERY: query,
  OP_QUERY_FIELDS: queryFields,
  OP_TAGS_GET: tagsGet,
  OP_TAGS_SEARCH: tagsSearch,
  OP_TAGS_SET: tagsSet,
  OP_TAGS_DEL: tagsDel,
  OP_TEST_DELAY: testDelay,
  OP_TEST_ALLOCATOR: testAllocator,
  OP_TEST_JQUEUE: testJqueue,
  OP_TEST_OS_PARAMS: testOsParams,
  OP_TEST_DUMMY: testDummy,
}

const isKnown = (id: string): id is OpcodeId => Object.hasOwn(units, id)

export function unitFor(id: string): LogicalUnit {
  if (isKnown(id)) return units[id]
  throw new GenericError(`There is no opcode ${id}`)
}
