// Options that only gnt-allocation has.
import { DATA_OPTIONS } from '../output/data'
import { flag, value } from '../input/option'
import { oNoHeaders, oSeparator } from '../input/options'
import { DISK_TEMPLATES } from '../../model/templates'

export const oExplain = flag('--explain', 'explain', 'tell of each node why nothing more fits there')
export const oExplainMoves = flag('--explain', 'explain', 'tell of each move which nodes the instance could go to')
export const oGroups = value('--groups', 'groups', 'list', 'only these node groups, comma list')
export const oNodeTag = value('--node-tag', 'node_tag', 'string', 'all nodes with this tag die')
export const oCount = value('--count', 'count', 'int', 'how many instances arrive; 1 when left out')
export const oInstanceGroup = value('--node-group', 'nodegroup', 'string', 'the group into which they go', {
  short: '-g',
})
export const oMaxInstances = value('--max-instances', 'max_instances', 'int', 'look no further than so many in a group')
export const oPlaces = flag('--verbose', 'verbose', 'show the nodes of each instance that fits', { short: '-v' })

export const SPECIFICATION_OPTIONS = [
  value('--disk-template', 'disk_template', 'choice', 'how the disks are stored', {
    short: '-t',
    choices: DISK_TEMPLATES,
  }),
  value('--memory', 'memory', 'unit', 'memory of an instance'),
  value('--vcpus', 'vcpus', 'int', 'virtual CPUs of an instance; 1 when left out', { short: '-p' }),
  value('--disks', 'disks', 'list', 'sizes of its disks, comma list; none when left out'),
  value('--spindle-use', 'spindle_use', 'int', 'spindles that it uses; 1 when left out'),
  value('--tags', 'tags', 'list', 'its tags, comma list'),
  value('--networks', 'networks', 'list', 'networks to which its group must be connected, comma list'),
]

export const BALANCE_OPTIONS = [
  flag('--execute', 'execute', 'carry the moves out, as one job', { short: '-X' }),
  value('--max-moves', 'max_moves', 'int', 'at most so many moves; as many as a job can hold when left out'),
  flag('--no-disk-moves', 'disk_moves', 'copy no disks', { stores: false }),
  flag('--no-instance-moves', 'instance_moves', 'change no primary nodes', { stores: false }),
  flag('--evacuate', 'evacuate', 'only instances whose node is offline or drained'),
  flag('--restricted-migration', 'restricted_migration', 'instances leave only nodes that are offline or drained'),
  value('--min-gain', 'min_gain', 'float', 'least gain of a move once the score is low; 0.01 when left out'),
  value('--min-gain-limit', 'min_gain_limit', 'float', 'the score below which that counts; 0.1 when left out'),
]

export const SHOW_OPTIONS = [oNoHeaders, oSeparator, ...DATA_OPTIONS]
