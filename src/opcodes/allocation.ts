// Questions to the allocation as jobs. Ganeti has no such opcodes. Each is also a request of /3, which becomes a job if
// its answer takes longer.
import type { ArrivingInstances, InstanceSpecification, Visible } from '../model/allocation'
import { listOf } from '../lib/shapes/containers'
import { bool, float, int, nonEmpty, nonNegative, object, positive } from '../lib/shapes/leaves'
import { objectOf, optional } from '../lib/shapes/objects'
import type { Shape } from '../lib/shapes/shape'
import { maybe, naming, opcode, req } from './opcode'
import { diskTemplate } from './types'

const names = listOf(nonEmpty)

const specification: Shape<InstanceSpecification> = objectOf(
  {
    disk_template: diskTemplate,
    memory_mib: positive(int),
    vcpus: positive(int),
    disks_mib: optional(listOf(positive(int))),
    disks_spindles: optional(listOf(positive(int))),
    spindle_use: optional(nonNegative(int)),
    tags: optional(names),
    networks: optional(names),
  },
  { others: 'refused' },
)

const arriving: Shape<ArrivingInstances> = objectOf(
  { spec: specification, count: optional(positive(int)), group: optional(nonEmpty) },
  { others: 'refused' },
)

const visible: Shape<Visible> = objectOf({ groups: names, nodes: names, instances: names }, { others: 'refused' })

const pExplain = maybe(bool, 'Tell of each node that was looked at')
const pVisible = naming(
  { groups: 'group', nodes: 'node', instances: 'instance' },
  maybe(visible, 'The objects that the answer may mention and its plan may change. The default is all'),
)
/** The allocator, and the groups. */
const ofGroups = {
  iallocator: maybe(nonEmpty, 'The built-in allocator or a script; the default ones when left out'),
  groups: maybe(names, 'Node groups; all when left out'),
  explain: pExplain,
  visible: pVisible,
}

export const OpClusterBalance = opcode('OP_CLUSTER_BALANCE', {
  doc: 'Plans a balance, and moves nothing; the result is that of POST /3/balance.',
  permission: 'cluster.balance',
  result: object,
  params: {
    max_moves: maybe(positive(int), 'The largest number of moves. The default is as many as a job can hold'),
    disk_moves: maybe(bool, 'Disks may be copied'),
    instance_moves: maybe(bool, 'Instances may change their primary node'),
    evacuate: maybe(bool, 'Only instances whose node is offline or drained'),
    restricted_migration: maybe(bool, 'Instances leave only nodes that are offline or drained'),
    min_gain: maybe(
      nonNegative(float),
      'The least gain of a move where the score is below the limit; 0.01 when left out',
    ),
    min_gain_limit: maybe(nonNegative(float), 'The score below which moves need that gain; 0.1 when left out'),
    ...ofGroups,
  },
})

export const OpClusterCapacity = opcode('OP_CLUSTER_CAPACITY', {
  doc: 'Counts how many instances fit; the result is that of POST /3/capacity.',
  permission: 'cluster.capacity',
  result: object,
  params: {
    ...ofGroups,
    spec: req(specification, 'The instances as they would be'),
    max_instances: maybe(nonNegative(int), 'Look no further than so many in each group'),
  },
})

export const OpClusterWhatIf = opcode('OP_CLUSTER_WHAT_IF', {
  doc: 'Tells what happens when nodes die and instances arrive; the result is that of POST /3/whatif.',
  permission: 'cluster.what_if',
  result: object,
  params: {
    nodes: naming('node', maybe(names, 'Nodes that die')),
    node_tag: maybe(nonEmpty, 'All nodes with this tag die, too'),
    instances: maybe(listOf(arriving), 'Instances that arrive, one after the other'),
    explain: pExplain,
    visible: pVisible,
  },
})
