// Options that only gnt-backup has.
import { flag, value } from '../input/option'

export const oExportNode = value('--node', 'node', 'string', 'node to store the export', {
  short: '-n',
  metavar: '<node>',
})
export const oIdentifyDefaults = flag(
  '--identify-defaults',
  'identify_defaults',
  'keep values equal to defaults as defaults',
)
export const oIgnoreRemoveFailures = flag(
  '--ignore-remove-failures',
  'ignore_remove_failures',
  'go on despite removal errors',
)
export const oLongSleep = flag('--long-sleep', 'long_sleep', 'allow long shutdown while zeroing')
export const oNoshutdown = flag('--noshutdown', 'shutdown', 'export while running', { stores: false })
export const oRemoveInstance = flag('--remove-instance', 'remove_instance', 'remove the instance afterwards')
export const oSrcDir = value('--src-dir', 'src_dir', 'string', 'export directory', { metavar: '<dir>' })
export const oSrcNode = value('--src-node', 'src_node', 'string', 'node holding the export', { metavar: '<node>' })
export const oTransportCompression = value(
  '--transport-compression',
  'transport_compression',
  'string',
  'compression on the wire',
  { default: 'none' },
)
export const oZeroFreeSpace = flag('--zero-free-space', 'zero_free_space', 'zero free space before export')
export const oZeroingTimeoutFixed = value(
  '--zeroing-timeout-fixed',
  'zeroing_timeout_fixed',
  'int',
  'fixed part of zeroing timeout',
)
export const oZeroingTimeoutPerMib = value(
  '--zeroing-timeout-per-mib',
  'zeroing_timeout_per_mib',
  'float',
  'per-MiB part of zeroing timeout',
)
