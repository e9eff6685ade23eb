// Options that only gnt-node has.
import { flag, value } from '../input/option'

/** The storage types that users may name. The master knows more. */
export const STORAGE_TYPES: readonly string[] = ['file', 'lvm-pv', 'lvm-vg', 'sharedfile', 'gluster']

export const oAllocatable = value('--allocatable', 'allocatable', 'bool', 'allow allocation on the volume', {
  metavar: 'yes|no',
})
export const oAutoPromote = flag('--auto-promote', 'auto_promote', 'promote candidates as needed')
export const oDrained = value('--drained', 'drained', 'bool', 'drain flag', { short: '-D', metavar: 'yes|no' })
export const oForceJoin = flag('--force-join', 'force_join', 'join even if the node seems in use', {
  ignored: '--force-join has no effect: a node joins without it',
})
export const oIgnoreSoftErrors = flag('--ignore-soft-errors', 'ignore_soft_errors', 'allocator may break N+1')
export const oIgnoreStatus = flag('--ignore-status', 'ignore_status', 'power even if not marked offline')
export const oMasterCandidate = value('--master-candidate', 'master_candidate', 'bool', 'candidate flag', {
  short: '-C',
  metavar: 'yes|no',
})
export const oMasterCapable = value('--master-capable', 'master_capable', 'bool', 'may become master', {
  metavar: 'yes|no',
})
export const oNoNodeSetup = flag('--no-node-setup', 'node_setup', 'skip ssh setup of the node', { stores: false })
export const oNodeOffline = value('--offline', 'offline', 'bool', 'offline flag', { short: '-O', metavar: 'yes|no' })
export const oNodePowered = value('--node-powered', 'node_powered', 'bool', 'recorded power state', {
  metavar: 'yes|no',
})
export const oPrimaryOnly = flag('--primary-only', 'primary_only', 'primaries only', { short: '-p' })
export const oReadd = flag('--readd', 'readd', 'add a known node again')
export const oSecondaryOnly = flag('--secondary-only', 'secondary_only', 'secondaries only', { short: '-s' })
export const oStorageType = value('--storage-type', 'user_storage_type', 'choice', 'storage type', {
  short: '-t',
  choices: STORAGE_TYPES,
  metavar: 'STORAGE_TYPE',
})
export const oSync = flag('--sync', 'do_locking', 'take locks while asking')
export const oVmCapable = value('--vm-capable', 'vm_capable', 'bool', 'may host instances', { metavar: 'yes|no' })
