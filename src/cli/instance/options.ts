// Options that only gnt-instance has.
import { flag, value } from '../input/option'

export const oAbsolute = flag('--absolute', 'absolute', 'size is the new total, not a delta')
export const oAllInstances = flag('--all', 'show_all', 'all instances')
export const oAllowFailover = flag('--allow-failover', 'allow_failover', 'fail over when migration cannot be done')
export const oAuto = flag('--auto', 'auto', 'pick faulty disks by itself (drbd)', { short: '-a' })
export const oCleanup = flag('--cleanup', 'cleanup', 'recover after a failed move')
export const oCommit = flag('--commit', 'commit', 'turn a forthcoming instance into a real one')
export const oCommunication = value(
  '--communication',
  'instance_communication',
  'bool',
  'instance communication on or off',
  { short: '-c' },
)
export const oDestinationNode = value('--node', 'node', 'string', 'node, or PRIMARY:SECONDARY', {
  short: '-n',
  metavar: '<node>',
})
export const oDiskIndices = value('--disks', 'disks', 'string', 'disk indices, default all')
export const oExtParams = value(
  '--ext-params',
  'ext_params',
  'keyval',
  'provider and parameters for a conversion to ext',
  { short: '-e' },
)
export const oFailoverNode = value('--target-node', 'dst_node', 'string', 'node for shared storage', {
  short: '-n',
  metavar: 'NODE',
})
export const oForceMultiple = flag('--force-multiple', 'force_multi', 'no question when many instances are hit')
export const oForceVariant = flag('--force-variant', 'force_variant', 'accept undeclared OS variants')
export const oForthcoming = flag('--forthcoming', 'forthcoming', 'reserve resources only')
export const oHvparams = value('--hypervisor-parameters', 'hvparams', 'keyval', 'hypervisor parameters', {
  short: '-H',
})
export const oIgnoreFailures = flag('--ignore-failures', 'ignore_failures', 'go on despite removal errors')
export const oIgnoreHvversions = flag('--ignore-hvversions', 'ignore_hvversions', 'allow differing hypervisor versions')
export const oIgnoreOffline = flag('--ignore-offline', 'ignore_offline', 'tolerate offline nodes')
export const oIgnoreSecondaries = flag('--ignore-secondaries', 'ignore_secondaries', 'tolerate errors on secondaries')
export const oIgnoreSize = flag('--ignore-size', 'ignore_size', 'do not check recorded size')
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
export const oNoHotplug = flag('--no-hotplug', 'hotplug', 'change devices only at next start', { stores: false })
export const oNoInstall = flag('--no-install', 'no_install', 'no OS installation, implies no start')
export const oNoRemember = flag('--no-remember', 'no_remember', 'do not record the new state')
export const oNoStart = flag('--no-start', 'start', 'leave it stopped', { stores: false })
export const oOffline = flag('--offline', 'offline_inst', 'mark the stopped instance offline')
export const oOnPrimary = flag('--on-primary', 'on_primary', 'replace on the primary', { short: '-p' })
export const oOnSecondary = flag('--on-secondary', 'on_secondary', 'replace on the secondary', { short: '-s' })
export const oOnline = flag('--online', 'online_inst', 'leave the offline state')
export const oPaused = flag('--paused', 'startup_paused', 'start paused')
export const oRuntimeMemory = value('--runtime-memory', 'runtime_mem', 'unit', 'balloon to this size', {
  short: '-m',
  metavar: '<size>',
})
export const oSelectAll = flag('--all', 'multi_mode', 'all instances', { stores: 'cluster' })
export const oSelectInstance = flag('--instance', 'multi_mode', 'select by instance name', { stores: 'instances' })
export const oSelectNode = flag('--node', 'multi_mode', 'select by any node', { stores: 'nodes' })
export const oSelectNodeTags = flag('--node-tags', 'multi_mode', 'select by node tag', { stores: 'nodes-by-tags' })
export const oSelectOs = flag('--select-os', 'select_os', 'choose the OS interactively')
export const oSelectPriNodeTags = flag('--pri-node-tags', 'multi_mode', 'select by primary node tag', {
  stores: 'nodes-pri-by-tags',
})
export const oSelectPrimary = flag('--primary', 'multi_mode', 'select by primary node', { stores: 'nodes-pri' })
export const oSelectSecNodeTags = flag('--sec-node-tags', 'multi_mode', 'select by secondary node tag', {
  stores: 'nodes-sec-by-tags',
})
export const oSelectSecondary = flag('--secondary', 'multi_mode', 'select by secondary node', { stores: 'nodes-sec' })
export const oSelectTags = flag('--tags', 'multi_mode', 'select by instance tag', { stores: 'instances-by-tags' })
export const oShowCmd = flag('--show-cmd', 'show_command', 'print the console command')
export const oStatic = flag('--static', 'static', 'no live data', { short: '-s' })
export const oTimeout = value('--timeout', 'timeout', 'int', 'seconds to wait', { default: 120 })
export const oType = value('--type', 'reboot_type', 'choice', 'soft, hard or full', {
  short: '-t',
  default: 'hard',
  choices: ['full', 'hard', 'soft'],
  metavar: '<REBOOT>',
})
export const oWaitForSync = flag('--wait-for-sync', 'wait_for_sync', 'wait for disk sync')

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
