// Options that only gnt-backup has.
import { OpBackupExport } from '../../opcodes/backup'
import { OpInstanceCreate } from '../../opcodes/instance'
import { parameter, value } from '../input/option'

export const oExportNode = value('--node', 'node', 'string', 'node to store the export', {
  short: '-n',
  metavar: '<node>',
})
export const oIdentifyDefaults = parameter(OpInstanceCreate, 'identify_defaults')
export const oIgnoreRemoveFailures = parameter(OpBackupExport, 'ignore_remove_failures')
export const oLongSleep = parameter(OpBackupExport, 'long_sleep', { help: 'allow long shutdown while zeroing' })
export const oNoshutdown = parameter(OpBackupExport, 'shutdown', { long: '--noshutdown', help: 'export while running' })
export const oRemoveInstance = parameter(OpBackupExport, 'remove_instance')
export const oSrcDir = parameter(OpInstanceCreate, 'src_path', { long: '--src-dir', metavar: '<dir>' })
export const oSrcNode = parameter(OpInstanceCreate, 'src_node', { metavar: '<node>' })
export const oTransportCompression = parameter(OpBackupExport, 'compress', {
  long: '--transport-compression',
  metavar: 'TRANSPORT_COMPRESSION',
  help: 'compression on the wire',
})
export const oZeroFreeSpace = parameter(OpBackupExport, 'zero_free_space')
export const oZeroingTimeoutFixed = parameter(OpBackupExport, 'zeroing_timeout_fixed', {
  help: 'fixed part of zeroing timeout',
})
export const oZeroingTimeoutPerMib = parameter(OpBackupExport, 'zeroing_timeout_per_mib', {
  help: 'per-MiB part of zeroing timeout',
})
