// Options that only gnt-instance has.
import {
  OpInstanceActivateDisks,
  OpInstanceCreate,
  OpInstanceFailover,
  OpInstanceGrowDisk,
  OpInstanceMigrate,
  OpInstanceQueryData,
  OpInstanceReboot,
  OpInstanceRemove,
  OpInstanceSetParams,
  OpInstanceShutdown,
  OpInstanceStartup,
} from '../../opcodes/instance'
import { flag, parameter, value } from '../input/option'

export const oAbsolute = parameter(OpInstanceGrowDisk, 'absolute', { help: 'size is the new total, not a delta' })
export const oAllInstances = flag('--all', 'show_all', 'all instances')
export const oAllowFailover = parameter(OpInstanceMigrate, 'allow_failover')
export const oAuto = flag('--auto', 'auto', 'pick faulty disks by itself (drbd)', { short: '-a' })
export const oCleanup = parameter(OpInstanceMigrate, 'cleanup', { help: 'recover after a failed move' })
export const oCommit = parameter(OpInstanceCreate, 'commit')
export const oCommunication = parameter(OpInstanceSetParams, 'instance_communication', {
  long: '--communication',
  short: '-c',
  metavar: 'INSTANCE_COMMUNICATION',
})
export const oDestinationNode = value('--node', 'node', 'string', 'node, or PRIMARY:SECONDARY', {
  short: '-n',
  metavar: '<node>',
})
export const oDiskIndices = value('--disks', 'disks', 'string', 'disk indices, default all')
export const oExtParams = parameter(OpInstanceSetParams, 'ext_params', { short: '-e' })
export const oFailoverNode = parameter(OpInstanceFailover, 'target_node', {
  short: '-n',
  metavar: 'NODE',
  help: 'node for shared storage',
})
export const oForceMultiple = flag('--force-multiple', 'force_multi', 'no question when many instances are hit')
export const oForceVariant = parameter(OpInstanceCreate, 'force_variant')
export const oForthcoming = parameter(OpInstanceCreate, 'forthcoming')
export const oHvparams = value('--hypervisor-parameters', 'hvparams', 'keyval', 'hypervisor parameters', {
  short: '-H',
})
export const oIgnoreFailures = parameter(OpInstanceRemove, 'ignore_failures')
export const oIgnoreHvversions = parameter(OpInstanceMigrate, 'ignore_hvversions')
export const oIgnoreOffline = parameter(OpInstanceStartup, 'ignore_offline_nodes', {
  long: '--ignore-offline',
  help: 'tolerate offline nodes',
})
export const oIgnoreSecondaries = parameter(OpInstanceReboot, 'ignore_secondaries')
export const oIgnoreSize = parameter(OpInstanceActivateDisks, 'ignore_size', { help: 'do not check recorded size' })
export const oNewPrimary = value(
  '--new-primary',
  'new_primary_node',
  'string',
  'new primary node (after a manual move)',
  { metavar: '<node>' },
)
export const oNewSecondaryNode = value('--node', 'node', 'string', 'secondary for a conversion to drbd', {
  short: '-n',
  metavar: '<node>',
})
const AT_ONCE = 'devices are changed at once anyway'
export const oHotplug = flag('--hotplug', '', 'ignored, prints a warning', {
  ignored: `--hotplug has no effect: ${AT_ONCE}`,
})
export const oHotplugIfPossible = flag('--hotplug-if-possible', '', 'ignored, prints a warning', {
  ignored: `--hotplug-if-possible has no effect: ${AT_ONCE}`,
})
export const oForceIgnored = flag('--force', '', 'ignored, prints a warning', {
  short: '-f',
  ignored: '--force has no effect: the command asks nothing',
})
export const oNoHotplug = parameter(OpInstanceSetParams, 'hotplug', { help: 'change devices only at next start' })
export const oNoInstall = parameter(OpInstanceCreate, 'no_install', { type: 'flag' })
export const oNoRemember = parameter(OpInstanceStartup, 'no_remember')
export const oNoStart = parameter(OpInstanceCreate, 'start', { help: 'leave it stopped' })
export const oOffline = flag('--offline', 'offline_inst', 'mark the stopped instance offline')
export const oOnPrimary = flag('--on-primary', 'on_primary', 'replace on the primary', { short: '-p' })
export const oOnSecondary = flag('--on-secondary', 'on_secondary', 'replace on the secondary', { short: '-s' })
export const oOnline = flag('--online', 'online_inst', 'leave the offline state')
export const oPaused = parameter(OpInstanceStartup, 'startup_paused', { long: '--paused' })
export const oRuntimeMemory = parameter(OpInstanceSetParams, 'runtime_mem', {
  long: '--runtime-memory',
  short: '-m',
  type: 'unit',
  metavar: '<size>',
  help: 'balloon to this size',
})
const oSelectAll = flag('--all', 'multi_mode', 'all instances', { stores: 'cluster' })
const oSelectInstance = flag('--instance', 'multi_mode', 'select by instance name', { stores: 'instances' })
const oSelectNode = flag('--node', 'multi_mode', 'select by any node', { stores: 'nodes' })
const oSelectNodeTags = flag('--node-tags', 'multi_mode', 'select by node tag', { stores: 'nodes-by-tags' })
export const oSelectOs = flag('--select-os', 'select_os', 'choose the OS interactively')
const oSelectPriNodeTags = flag('--pri-node-tags', 'multi_mode', 'select by primary node tag', {
  stores: 'nodes-pri-by-tags',
})
const oSelectPrimary = flag('--primary', 'multi_mode', 'select by primary node', { stores: 'nodes-pri' })
const oSelectSecNodeTags = flag('--sec-node-tags', 'multi_mode', 'select by secondary node tag', {
  stores: 'nodes-sec-by-tags',
})
const oSelectSecondary = flag('--secondary', 'multi_mode', 'select by secondary node', { stores: 'nodes-sec' })
const oSelectTags = flag('--tags', 'multi_mode', 'select by instance tag', { stores: 'instances-by-tags' })
export const oShowCmd = flag('--show-cmd', 'show_command', 'print the console command')
export const oStatic = parameter(OpInstanceQueryData, 'static', { short: '-s', help: 'no live data' })
export const oTimeout = parameter(OpInstanceShutdown, 'timeout', { help: 'seconds to wait' })
export const oType = parameter(OpInstanceReboot, 'reboot_type', {
  long: '--type',
  short: '-t',
  default: 'hard',
  metavar: '<REBOOT>',
})
export const oWaitForSync = parameter(OpInstanceActivateDisks, 'wait_for_sync')

export const SELECT_OPTIONS = [
  oForceMultiple,
  oSelectNode,
  oSelectPrimary,
  oSelectSecondary,
  oSelectNodeTags,
  oSelectPriNodeTags,
  oSelectSecNodeTags,
  oSelectTags,
  oSelectAll,
  oSelectInstance,
]
