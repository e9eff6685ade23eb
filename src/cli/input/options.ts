// Options that several tools share. Names, types and defaults are Ganeti's. Options that are parameters of an opcode
// derive from it. Others are written by hand: those that only choose or show something, and those that differ at a
// terminal. `--force` also answers questions. `--node` names two nodes, or objects of several kinds. `-B`, `-H`,
// `--disk` and `--net` have their own notation; tables of the model have the types of their contents.
import {
  OpInstanceCreate,
  OpInstanceMigrate,
  OpInstanceMove,
  OpInstanceRemove,
  OpInstanceReplaceDisks,
} from '../../opcodes/instance'
import { OpNodeAdd, OpOobCommand } from '../../opcodes/node'
import { flag, parameter, value } from './option'

export const oBackendParameters = value('--backend-parameters', 'beparams', 'keyval', 'backend parameters', {
  short: '-B',
})
export const oCompress = parameter(OpInstanceMove, 'compress')
export const oDisk = value('--disk', 'disks', 'identkeyval', 'disk parameters, INDEX:key=value', { repeatable: true })
export const oDiskParameters = value('--disk-parameters', 'diskparams', 'identkeyval', 'per-template disk parameters', {
  short: '-D',
  repeatable: true,
})
const oDiskState = value('--disk-state', 'disk_state', 'identkeyval', 'disk state (unused)', {
  repeatable: true,
})
export const oDiskTemplate = parameter(OpInstanceCreate, 'disk_template', { short: '-t', metavar: 'TEMPL' })
export const oDryRun = flag('--dry-run', 'dry_run', 'check only')
export const oEarlyRelease = parameter(OpInstanceReplaceDisks, 'early_release')
export const oFileDriver = parameter(OpInstanceCreate, 'file_driver', { metavar: '<DRIVER>' })
export const oFileStorageDir = parameter(OpInstanceCreate, 'file_storage_dir', { metavar: '<DIR>' })
export const oFilter = flag('--filter', 'force_filter', 'arguments are filter expressions', { short: '-F' })
export const oForce = flag('--force', 'force', 'skip questions and soft checks', { short: '-f' })
export const oFrom = value('--from', 'tags_source', 'string', 'file with tags, - for stdin')
const oHelperShutdownTimeout = parameter(OpInstanceCreate, 'helper_shutdown_timeout', {
  help: 'helper VM stop timeout',
})
const oHelperStartupTimeout = parameter(OpInstanceCreate, 'helper_startup_timeout', {
  help: 'helper VM start timeout',
})
const oHypervisor = value('--hypervisor-parameters', 'hypervisor', 'identkeyval', 'hypervisor parameters', {
  short: '-H',
})
export const oHypervisorParameters = value(
  '--hypervisor-parameters',
  'hvparams',
  'identkeyval',
  'hypervisor parameters',
  { short: '-H', repeatable: true },
)
const oHypervisorState = value('--hypervisor-state', 'hv_state', 'identkeyval', 'hypervisor state (unused)', {
  repeatable: true,
})
export const oIallocator = parameter(OpInstanceCreate, 'iallocator', { short: '-I', metavar: '<NAME>' })
export const oIgnoreConsistency = parameter(OpInstanceMove, 'ignore_consistency')
export const oIgnoreIpolicy = parameter(OpInstanceCreate, 'ignore_ipolicy')
export const oIpCheck = parameter(OpInstanceCreate, 'ip_check')
const oIpolicyBoundsSpecs = value(
  '--ipolicy-bounds-specs',
  'ipolicy_bounds_specs',
  'multilistidentkeyval',
  'min/max specs',
)
const oIpolicyDiskTemplates = value(
  '--ipolicy-disk-templates',
  'ipolicy_disk_templates',
  'list',
  'templates allowed by policy',
)
const oIpolicySpindleRatio = value(
  '--ipolicy-spindle-ratio',
  'ipolicy_spindle_ratio',
  'maybefloat',
  'policy: instances per spindle',
)
const oIpolicyVcpuRatio = value('--ipolicy-vcpu-ratio', 'ipolicy_vcpu_ratio', 'maybefloat', 'policy: vCPU per CPU')
export const oMigrationMode = value('--migration-mode', 'migration_mode', 'choice', 'live or non-live', {
  choices: ['live', 'non-live'],
})
export const oNameCheck = parameter(OpInstanceCreate, 'name_check')
export const oNet = value('--net', 'nics', 'identkeyval', 'NIC parameters, INDEX:key=value', { repeatable: true })
export const oNewSecondary = parameter(OpInstanceReplaceDisks, 'remote_node', {
  long: '--new-secondary',
  short: '-n',
  metavar: 'NODE',
})
export const oNoConflictsCheck = parameter(OpInstanceCreate, 'conflicts_check', { help: 'allow conflicting IPs' })
export const oNoHeaders = flag('--no-headers', 'no_headers', 'no header line')
export const oNoIpCheck = flag(['--no-ip-check'], '', 'ignored, prints a warning', {
  ignored: '--no-ip-check has no effect: the check is off unless asked for',
})
export const oNoNameCheck = flag(['--no-name-check'], '', 'ignored, prints a warning', {
  ignored: '--no-name-check has no effect: the check is off unless asked for',
})
const oNoNics = flag('--no-nics', 'no_nics', 'create no NIC')
export const oNoRuntimeChanges = parameter(OpInstanceMigrate, 'allow_runtime_changes', {
  long: '--no-runtime-changes',
  help: 'do not balloon memory',
})
export const oNoSshKeyCheck = flag('--no-ssh-key-check', 'ssh_key_check', 'no host key check', { stores: false })
export const oNoWaitForSync = parameter(OpInstanceCreate, 'wait_for_sync')
export const oNode = value('--node', 'nodes', 'string', 'these nodes, repeatable', {
  short: '-n',
  metavar: '<node>',
  repeatable: true,
})
export const oNodeGroup = value('--node-group', 'nodegroup', 'string', 'node group', {
  short: '-g',
  metavar: '<nodegroup>',
})
export const oNodeParameters = value('--node-parameters', 'ndparams', 'keyval', 'node parameters')
export const oNonLive = flag('--non-live', 'live', 'suspend instead of live move', { stores: false })
export const oOobTimeout = value('--oob-timeout', 'oob_timeout', 'int', 'OOB helper timeout', { default: 60 })
const oOpportunisticLocking = parameter(OpInstanceCreate, 'opportunistic_locking', {
  help: 'take what locks are free',
})
export const oOsParameters = parameter(OpInstanceCreate, 'osparams', { long: '--os-parameters', short: '-O' })
export const oOsParametersPrivate = parameter(OpInstanceCreate, 'osparams_private', { long: '--os-parameters-private' })
export const oOsParametersSecret = parameter(OpInstanceCreate, 'osparams_secret', { long: '--os-parameters-secret' })
const oOsSize = value('--os-size', 'sd_size', 'unit', 'one disk of this size', {
  short: '-s',
  metavar: '<size>',
})
export const oOsType = value('--os-type', 'os', 'string', 'OS with variant', { short: '-o', metavar: '<os>' })
export const oOutput = value('--output', 'output', 'string', 'fields, comma list; leading + adds to defaults', {
  short: '-o',
  metavar: 'FIELDS',
})
export const oPlacement = value('--node', 'node', 'string', 'node, or PRIMARY:SECONDARY', {
  short: '-n',
  metavar: '<pnode>[:<snode>]',
})
export const oPowerDelay = parameter(OpOobCommand, 'power_delay', { help: 'pause between power-ons' })
const oPrintJobid = flag('--print-jobid', 'print_jobid', 'print the id of the job first, alone on its line')
export const oPriority = value('--priority', 'priority', 'choice', 'priority', {
  choices: ['low', 'normal', 'high'],
  metavar: 'low|normal|high',
})
export const oRoman = flag('--roman', 'roman_integers', 'roman numerals', {
  ignored: '--roman has no effect: numbers are shown as they are',
})
export const oSecondaryIp = parameter(OpNodeAdd, 'secondary_ip', { short: '-s', metavar: 'ADDRESS' })
export const oSeparator = value('--separator', 'separator', 'string', 'column separator')
export const oShowMachineNames = flag('--show-machine-names', 'show_machine_names', 'prefix lines with node name', {
  short: '-M',
})
export const oShutdownTimeout = parameter(OpInstanceRemove, 'shutdown_timeout', {
  help: 'seconds to wait for shutdown',
})
const oSubmit = flag('--submit', 'submit_only', 'print the id of the job and do not wait for it')
export const oTags = parameter(OpInstanceCreate, 'tags')
export const oTargetNode = parameter(OpInstanceMigrate, 'target_node', {
  short: '-n',
  metavar: 'NODE',
  help: 'new node',
})
export const oTo = value('--to', 'to', 'string', 'target group, repeatable', { metavar: '<group>', repeatable: true })
export const oUnits = value('--units', 'units', 'choice', 'h, m, g or t', { choices: ['h', 'm', 'g', 't'] })
export const oVerbose = flag('--verbose', 'verbose', 'more output', { short: '-v' })
export const oYesDoItAnyway = flag('--yes-do-it', 'yes_do_it', 'confirm the dangerous option')
export const oYes = flag('--yes', 'confirm', 'no question')

export const JOB_OPTIONS = [oSubmit, oPrintJobid, oDryRun, oPriority]
export const SUBMIT_OPTIONS = [oSubmit, oPrintJobid]
export const LIST_OPTIONS = [oNoHeaders, oSeparator, oOutput, oVerbose]
export const POLICY_OPTIONS = [oIpolicyBoundsSpecs, oIpolicyDiskTemplates, oIpolicyVcpuRatio, oIpolicySpindleRatio]
export const STATE_OPTIONS = [oHypervisorState, oDiskState]
export const CREATE_OPTIONS = [
  oBackendParameters,
  oDisk,
  oDiskTemplate,
  oFileStorageDir,
  oFileDriver,
  oHypervisor,
  oIallocator,
  oNet,
  oPlacement,
  oNodeGroup,
  oIpCheck,
  oNoIpCheck,
  oNameCheck,
  oNoNameCheck,
  oNoConflictsCheck,
  oNoNics,
  oNoWaitForSync,
  oOsParameters,
  oOsParametersPrivate,
  oOsParametersSecret,
  oOsSize,
  oOpportunisticLocking,
  oTags,
  oIgnoreIpolicy,
  oHelperStartupTimeout,
  oHelperShutdownTimeout,
]
