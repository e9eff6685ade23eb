// Options that only gnt-allocation has.
import { OpClusterBalance, OpClusterCapacity, OpClusterWhatIf } from '../../opcodes/allocation'
import { DATA_OPTIONS } from '../output/data'
import { flag, parameter, value } from '../input/option'
import { oNoHeaders, oSeparator } from '../input/options'
import { DISK_TEMPLATES } from '../../model/templates'

export const oExplain = parameter(OpClusterCapacity, 'explain', {
  type: 'flag',
  help: 'tell of each node why nothing more fits there',
})
export const oExplainMoves = parameter(OpClusterBalance, 'explain', {
  type: 'flag',
  help: 'tell of each move which nodes the instance could go to',
})
export const oGroups = parameter(OpClusterBalance, 'groups', {
  type: 'list',
  help: 'only these node groups, comma list',
})
export const oNodeTag = parameter(OpClusterWhatIf, 'node_tag', { help: 'all nodes with this tag die' })
export const oCount = value('--count', 'count', 'int', 'how many instances arrive; 1 when left out')
export const oInstanceGroup = value('--node-group', 'nodegroup', 'string', 'the group into which they go', {
  short: '-g',
})
export const oMaxInstances = parameter(OpClusterCapacity, 'max_instances')
export const oPlaces = flag('--verbose', 'verbose', 'show the nodes of each instance that fits', { short: '-v' })

export const SPECIFICATION_OPTIONS = [
  value('--disk-template', 'disk_template', 'choice', 'how the disks are stored', {
    short: '-t',
    choices: DISK_TEMPLATES,
  }),
  value('--memory', 'memory', 'unit', 'memory of an instance'),
  value('--vcpus', 'vcpus', 'int', 'virtual CPUs of an instance; 1 when left out', { short: '-p' }),
  value('--disks', 'disks', 'list', 'sizes of its disks, comma list; none when left out'),
  value(
    '--disk-spindles',
    'disk_spindles',
    'list',
    'physical volumes of each disk where storage is exclusive, comma list',
  ),
  value('--spindle-use', 'spindle_use', 'int', 'spindles that it uses; 1 when left out'),
  value('--tags', 'tags', 'list', 'its tags, comma list'),
  value('--networks', 'networks', 'list', 'networks to which its group must be connected, comma list'),
]

const SWITCHED_OFF = { type: 'flag', stores: false, default: true } as const

export const BALANCE_OPTIONS = [
  flag('--execute', 'execute', 'carry the moves out, as one job', { short: '-X' }),
  parameter(OpClusterBalance, 'max_moves'),
  parameter(OpClusterBalance, 'disk_moves', { ...SWITCHED_OFF, long: '--no-disk-moves', help: 'copy no disks' }),
  parameter(OpClusterBalance, 'instance_moves', {
    ...{ ...SWITCHED_OFF, long: '--no-instance-moves', help: 'change no primary nodes' },
  }),
  parameter(OpClusterBalance, 'evacuate', { type: 'flag' }),
  parameter(OpClusterBalance, 'restricted_migration', { type: 'flag' }),
  parameter(OpClusterBalance, 'min_gain'),
  parameter(OpClusterBalance, 'min_gain_limit'),
]

export const SHOW_OPTIONS = [oNoHeaders, oSeparator, ...DATA_OPTIONS]
