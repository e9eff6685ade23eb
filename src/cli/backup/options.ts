// Options that only gnt-backup has.
import { HELPER_VM_STARTUP_S, ZEROING_TIMEOUT_PER_MIB_S } from '../../model/constants/exports'
import { OpBackupExport } from '../../opcodes/backup'
import { OpInstanceCreate } from '../../opcodes/instance'
import { flag, parameter, value } from '../input/option'

export const oExportNode = value('--node', 'node', 'string', 'node to store the export', {
  short: '-n',
  metavar: '<node>',
})
export const oIdentifyDefaults = parameter(OpInstanceCreate, 'identify_defaults')
export const oIgnoreRemoveFailures = parameter(OpBackupExport, 'ignore_remove_failures')
export const oLongSleep = parameter(OpBackupExport, 'long_sleep')
export const oNoshutdown = parameter(OpBackupExport, 'shutdown', { long: '--noshutdown', help: 'export while running' })
export const oRemoveInstance = parameter(OpBackupExport, 'remove_instance')
export const oSrcDir = parameter(OpInstanceCreate, 'src_path', { long: '--src-dir', metavar: '<dir>' })
export const oSrcNode = parameter(OpInstanceCreate, 'src_node', { metavar: '<node>' })
export const oStart = flag('--start', 'start', 'start the instance when it is there', { own: true })
export const oTransportCompression = parameter(OpBackupExport, 'compress', {
  long: '--transport-compression',
  metavar: 'TRANSPORT_COMPRESSION',
  help: 'compression on the wire',
})
export const oZeroFreeSpace = parameter(OpBackupExport, 'zero_free_space', {
  help: "zero the disks' free space first, with a helper machine from the cluster's zeroing image",
})
export const oZeroingTimeoutFixed = parameter(OpBackupExport, 'zeroing_timeout_fixed', {
  help: `seconds that zeroing may take at least (default: ${HELPER_VM_STARTUP_S})`,
})
export const oZeroingTimeoutPerMib = parameter(OpBackupExport, 'zeroing_timeout_per_mib', {
  help: `seconds that it may take besides for each MiB of the disks (default: ${ZEROING_TIMEOUT_PER_MIB_S})`,
})
