// Options that only gnt-node has.
import { OpNodeAdd, OpNodeEvacuate, OpNodeSetParams, OpOobCommand, OpRepairCommand } from '../../opcodes/node'
import { flag, parameter, value } from '../input/option'
import type { StorageType } from '../../model/templates'

/** In the order of Ganeti's program. */
const STORAGE_TYPES: readonly StorageType[] = ['file', 'lvm-pv', 'lvm-vg', 'sharedfile', 'gluster']

export const oAllocatable = value('--allocatable', 'allocatable', 'bool', 'allow allocation on the volume', {
  metavar: 'yes|no',
})
export const oAutoPromote = parameter(OpNodeSetParams, 'auto_promote', { help: 'promote candidates as needed' })
export const oDrained = parameter(OpNodeSetParams, 'drained', { short: '-D' })
export const oForceJoin = flag('--force-join', 'force_join', 'join even if the node seems in use', {
  ignored: '--force-join has no effect: a node joins without it',
})
export const oIgnoreSoftErrors = parameter(OpNodeEvacuate, 'ignore_soft_errors', { type: 'flag' })
export const oIgnoreStatus = parameter(OpOobCommand, 'ignore_status')
export const oMasterCandidate = parameter(OpNodeSetParams, 'master_candidate', { short: '-C' })
export const oMasterCapable = parameter(OpNodeSetParams, 'master_capable')
export const oNoNodeSetup = flag('--no-node-setup', 'node_setup', 'skip ssh setup of the node', { stores: false })
export const oPrimaryIp = parameter(OpNodeAdd, 'primary_ip', { own: true })
export const oSetOnline = flag('--yes', 'confirm', 'no question when the node is set online', { own: true })
export const oNodeOffline = parameter(OpNodeSetParams, 'offline', { short: '-O' })
export const oNodePowered = parameter(OpNodeSetParams, 'powered', {
  long: '--node-powered',
  help: 'recorded power state',
})
export const oPrimaryOnly = flag('--primary-only', 'primary_only', 'primaries only', { short: '-p' })
export const oReadd = parameter(OpNodeAdd, 'readd')
export const oSecondaryOnly = flag('--secondary-only', 'secondary_only', 'secondaries only', { short: '-s' })
export const oInput = parameter(OpRepairCommand, 'input', { metavar: 'TEXT' })
export const oStorageType = value('--storage-type', 'user_storage_type', 'choice', 'storage type', {
  short: '-t',
  choices: STORAGE_TYPES,
  metavar: 'STORAGE_TYPE',
})
export const oSync = flag('--sync', 'do_locking', 'take locks while asking')
export const oVmCapable = parameter(OpNodeSetParams, 'vm_capable')
