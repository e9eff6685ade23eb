// Options that commands of several tools have. Names, types and defaults are Ganeti's.
import { flag, value } from './option'
import { DISK_TEMPLATES } from '../../model/templates'

export const oBackendParameters = value('--backend-parameters', 'beparams', 'keyval', 'backend parameters', {
  short: '-B',
})
export const oCompress = value('--compress', 'compress', 'string', 'compression during transfer', { default: 'none' })
export const oDisk = value('--disk', 'disks', 'identkeyval', 'disk parameters, INDEX:key=value', { repeatable: true })
export const oDiskParameters = value('--disk-parameters', 'diskparams', 'identkeyval', 'per-template disk parameters', {
  short: '-D',
  repeatable: true,
})
export const oDiskState = value('--disk-state', 'disk_state', 'identkeyval', 'disk state (unused)', {
  repeatable: true,
})
export const oDiskTemplate = value('--disk-template', 'disk_template', 'choice', 'disk template', {
  short: '-t',
  choices: DISK_TEMPLATES,
  metavar: 'TEMPL',
})
export const oDryRun = flag('--dry-run', 'dry_run', 'check only')
export const oEarlyRelease = flag('--early-release', 'early_release', 'free locks early')
export const oFileDriver = value('--file-driver', 'file_driver', 'choice', 'driver for image files', {
  choices: ['blktap', 'blktap2', 'loop'],
  metavar: '<DRIVER>',
})
export const oFileStorageDir = value(
  '--file-storage-dir',
  'file_storage_dir',
  'string',
  'directory below the cluster one',
  { metavar: '<DIR>' },
)
export const oFilter = flag('--filter', 'force_filter', 'arguments are filter expressions', { short: '-F' })
export const oForce = flag('--force', 'force', 'skip questions and soft checks', { short: '-f' })
export const oFrom = value('--from', 'tags_source', 'string', 'file with tags, - for stdin')
export const oHelperShutdownTimeout = value(
  '--helper-shutdown-timeout',
  'helper_shutdown_timeout',
  'int',
  'helper VM stop timeout',
)
export const oHelperStartupTimeout = value(
  '--helper-startup-timeout',
  'helper_startup_timeout',
  'int',
  'helper VM start timeout',
)
export const oHypervisor = value('--hypervisor-parameters', 'hypervisor', 'identkeyval', 'hypervisor parameters', {
  short: '-H',
})
export const oHypervisorParameters = value(
  '--hypervisor-parameters',
  'hvparams',
  'identkeyval',
  'hypervisor parameters',
  { short: '-H', repeatable: true },
)
export const oHypervisorState = value('--hypervisor-state', 'hv_state', 'identkeyval', 'hypervisor state (unused)', {
  repeatable: true,
})
export const oIallocator = value('--iallocator', 'iallocator', 'string', 'allocator name, . for the default', {
  short: '-I',
  metavar: '<NAME>',
})
export const oIgnoreConsistency = flag('--ignore-consistency', 'ignore_consistency', 'skip disk consistency checks')
export const oIgnoreIpolicy = flag('--ignore-ipolicy', 'ignore_ipolicy', 'skip instance policy checks')
export const oIpCheck = flag('--ip-check', 'ip_check', 'ping the IP first')
export const oIpolicyBoundsSpecs = value(
  '--ipolicy-bounds-specs',
  'ipolicy_bounds_specs',
  'multilistidentkeyval',
  'min/max specs',
)
export const oIpolicyDiskTemplates = value(
  '--ipolicy-disk-templates',
  'ipolicy_disk_templates',
  'list',
  'templates allowed by policy',
)
export const oIpolicySpindleRatio = value(
  '--ipolicy-spindle-ratio',
  'ipolicy_spindle_ratio',
  'maybefloat',
  'policy: instances per spindle',
)
export const oIpolicyVcpuRatio = value(
  '--ipolicy-vcpu-ratio',
  'ipolicy_vcpu_ratio',
  'maybefloat',
  'policy: vCPU per CPU',
)
export const oMigrationMode = value('--migration-mode', 'migration_mode', 'choice', 'live or non-live', {
  choices: ['live', 'non-live'],
})
export const oNameCheck = flag('--name-check', 'name_check', 'resolve the name')
export const oNet = value('--net', 'nics', 'identkeyval', 'NIC parameters, INDEX:key=value', { repeatable: true })
export const oNewSecondary = value('--new-secondary', 'dst_node', 'string', 'new secondary node', {
  short: '-n',
  metavar: 'NODE',
})
export const oNoConflictsCheck = flag('--no-conflicts-check', 'conflicts_check', 'allow conflicting IPs', {
  stores: false,
})
export const oNoHeaders = flag('--no-headers', 'no_headers', 'no header line')
export const oNoIpCheck = flag(['--no-ip-check'], '', 'ignored, prints a warning', {
  ignored: '--no-ip-check has no effect: the check is off unless asked for',
})
export const oNoNameCheck = flag(['--no-name-check'], '', 'ignored, prints a warning', {
  ignored: '--no-name-check has no effect: the check is off unless asked for',
})
export const oNoNics = flag('--no-nics', 'no_nics', 'create no NIC')
export const oNoRuntimeChanges = flag('--no-runtime-changes', 'allow_runtime_chgs', 'do not balloon memory', {
  stores: false,
})
export const oNoSshKeyCheck = flag('--no-ssh-key-check', 'ssh_key_check', 'no host key check', { stores: false })
export const oNoWaitForSync = flag('--no-wait-for-sync', 'wait_for_sync', 'do not wait for disk sync', {
  stores: false,
})
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
export const oOpportunisticLocking = flag(
  '--opportunistic-locking',
  'opportunistic_locking',
  'take what locks are free',
)
export const oOsParameters = value('--os-parameters', 'osparams', 'keyval', 'OS parameters', { short: '-O' })
export const oOsParametersPrivate = value(
  '--os-parameters-private',
  'osparams_private',
  'keyval',
  'private OS parameters',
)
export const oOsParametersSecret = value(
  '--os-parameters-secret',
  'osparams_secret',
  'keyval',
  'secret OS parameters, never stored',
)
export const oOsSize = value('--os-size', 'sd_size', 'unit', 'one disk of this size', {
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
export const oPowerDelay = value('--power-delay', 'power_delay', 'float', 'pause between power-ons', { default: 2.0 })
export const oPrintJobid = flag('--print-jobid', 'print_jobid', 'print the id of the job first, alone on its line')
export const oPriority = value('--priority', 'priority', 'choice', 'priority', {
  choices: ['low', 'normal', 'high'],
  metavar: 'low|normal|high',
})
export const oRoman = flag('--roman', 'roman_integers', 'roman numerals', {
  ignored: '--roman has no effect: numbers are shown as they are',
})
export const oSecondaryIp = value('--secondary-ip', 'secondary_ip', 'string', 'secondary IP', {
  short: '-s',
  metavar: 'ADDRESS',
})
export const oSeparator = value('--separator', 'separator', 'string', 'column separator')
export const oShowMachineNames = flag('--show-machine-names', 'show_machine_names', 'prefix lines with node name', {
  short: '-M',
})
export const oShutdownTimeout = value('--shutdown-timeout', 'shutdown_timeout', 'int', 'seconds to wait for shutdown', {
  default: 120,
})
export const oSubmit = flag('--submit', 'submit_only', 'print the id of the job and do not wait for it')
export const oTags = value('--tags', 'tags', 'string', 'tags, comma list')
export const oTargetNode = value('--target-node', 'dst_node', 'string', 'new node', { short: '-n', metavar: 'NODE' })
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
