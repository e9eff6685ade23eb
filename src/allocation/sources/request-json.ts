// The allocator protocol: a request is the whole cluster and a question, in JSON.
import { JsonFields } from './json-fields'
import {
  BadClusterData,
  type ClusterData,
  DEFAULT_POLICY,
  type DiskData,
  type GroupData,
  type InstanceData,
  NO_NODE,
  type NodeData,
  spindlesOf,
} from '../model/cluster-data'
import { allocPolicyOf, policyOf, templateOf } from './values'
import type { EvacMode, NewInstance, Request } from '../model/requests'

export interface ParsedRequest {
  readonly data: ClusterData
  readonly request: Request
}

const TOP = 'invalid iallocator message'
const IN_REQUEST = 'invalid request dict'

/** `nodeMemory_mib`: the memory of a KVM node itself, instead of its report; 0 uses the report. */
export function parseRequest(text: string, nodeMemory_mib: number): ParsedRequest {
  const message = JsonFields.parse('Parsing input IAllocator message', text, TOP)
  const request = message.object('request', IN_REQUEST)
  const data = parseCluster(message, nodeMemory_mib)
  return { data, request: parseQuestion(request, data) }
}

function parseCluster(message: JsonFields, nodeMemory_mib: number): ClusterData {
  const groups = message.entries('nodegroups', (uuid) => `invalid data for group '${uuid}'`).map(parseGroup)
  const groupAt = new Map(groups.map(({ uuid }, at) => [uuid, at]))
  const [hypervisor] = message.strings('enabled_hypervisors')
  const fixed = hypervisor === 'kvm' && nodeMemory_mib > 0 ? nodeMemory_mib : undefined
  const nodes = message
    .entries('nodes', (name) => `invalid data for node '${name}'`)
    .map(([name, fields]) => parseNode(name, fields, groupAt, fixed))
  const nodeAt = new Map(nodes.map(({ name }, at) => [name, at]))
  const lookUp = (node: string, instance: string) => {
    const at = nodeAt.get(node)
    if (at === undefined) throw new BadClusterData(`Unknown node '${node}' for instance ${instance}`)
    return at
  }
  const instances = message
    .entries('instances', (name) => `invalid data for instance '${name}'`)
    .map(([name, fields]): InstanceData => {
      const [primary, secondary] = fields.strings('nodes')
      if (primary === undefined) throw new BadClusterData(`empty node list for instance ${name}`)
      return {
        ...parseInstance(name, fields),
        primary: lookUp(primary, name),
        secondary: secondary === undefined ? NO_NODE : lookUp(secondary, name),
      }
    })
  return { groups, nodes, instances, tags: message.strings('cluster_tags'), policy: DEFAULT_POLICY }
}

const parseGroup = ([uuid, fields]: readonly [string, JsonFields]): GroupData => ({
  name: fields.string('name'),
  uuid,
  allocPolicy: allocPolicyOf(fields.string('alloc_policy')),
  networks: fields.strings('networks'),
  policy: policyOf(fields.object('ipolicy', `invalid data for group '${uuid}': key 'ipolicy'`)),
  tags: fields.strings('tags'),
})

function parseNode(
  name: string,
  fields: JsonFields,
  groupAt: ReadonlyMap<string, number>,
  nodeMemory_mib: number | undefined,
): NodeData {
  const [offline, drained] = [fields.boolean('offline'), fields.boolean('drained')]
  const uuid = fields.string('group')
  const capable = fields.has('vm_capable') ? fields.boolean('vm_capable') : true
  const group = groupAt.get(uuid)
  if (group === undefined) throw new BadClusterData(`Unknown group '${uuid}' for node ${name}`)
  const parameters = fields.object('ndparams', `invalid data for node '${name}'`)
  const exclusive = parameters.boolean('exclusive_storage')
  const live = (key: string) => (offline || !capable ? 0 : fields.number(key))
  const unusable = offline ? 'offline' : !capable ? 'not vm_capable' : drained ? 'drained' : undefined
  return {
    name,
    totalMemory: live('total_memory'),
    nodeMemory: nodeMemory_mib ?? live('reserved_memory'),
    freeMemory: live('free_memory'),
    totalDisk: live('total_disk'),
    freeDisk: live('free_disk'),
    totalCpus: live('total_cpus'),
    nodeCpus: live('reserved_cpus'),
    offline: unusable !== undefined,
    ...(unusable !== undefined && { unusable }),
    master: false,
    group,
    spindles: exclusive ? live('total_spindles') : parameters.number('spindle_count'),
    freeSpindles: live('free_spindles'),
    tags: fields.has('tags') ? fields.strings('tags') : [],
    exclusiveStorage: exclusive,
    cpuSpeed: 1,
  }
}

function parseInstance(name: string, fields: JsonFields): InstanceData {
  const disk = fields.number('disk_space_total')
  const disks = fields.objects('disks').map((one): DiskData => ({
    size: one.number('size'),
    spindles: one.has('spindles') ? one.number('spindles') : undefined,
  }))
  const state = fields.has('admin_state') ? fields.string('admin_state') : 'up'
  return {
    name,
    memory: fields.number('memory'),
    disk,
    disks,
    vcpus: fields.number('vcpus'),
    tags: fields.strings('tags'),
    template: templateOf(fields.string('disk_template')),
    spindleUse: fields.number('spindle_use'),
    networks: fields.objects('nics').flatMap((nic) => (nic.has('network') ? [nic.string('network')] : [])),
    status: state === 'down' ? 'ADMIN_down' : state === 'offline' ? 'ADMIN_offline' : 'running',
    autoBalance: true,
    spindles: spindlesOf(disks),
    forthcoming: fields.has('forthcoming') && fields.boolean('forthcoming'),
    primary: NO_NODE,
    secondary: NO_NODE,
  }
}

function parseQuestion(request: JsonFields, data: ClusterData): Request {
  const type = request.string('type')
  const group = request.has('group_name') ? request.string('group_name') : undefined
  const instanceOf = (fields: JsonFields): NewInstance => {
    const name = fields.string('name')
    const requiredNodes = fields.number('required_nodes')
    const own = fields.about(`invalid data for instance '${name}'`)
    return { data: parseInstance(name, own), requiredNodes, group }
  }
  switch (type) {
    case 'allocate': {
      const restrictTo = request.has('restrict-to-nodes') ? request.strings('restrict-to-nodes') : undefined
      return { type, instance: instanceOf(request), restrictTo }
    }
    case 'multi-allocate':
      return { type, instances: request.objects('instances').map(instanceOf) }
    case 'allocate-secondary':
      return { type, name: known(request.string('name'), data) }
    case 'relocate': {
      const name = known(request.string('name'), data)
      const requiredNodes = request.number('required_nodes')
      return { type, name, requiredNodes, relocateFrom: request.strings('relocate_from') }
    }
    case 'node-evacuate':
      return { type, instances: request.strings('instances'), mode: modeOf(request.string('evac_mode')) }
    case 'change-group':
      return { type, instances: request.strings('instances'), targetGroups: request.strings('target_groups') }
    case 'balance':
      return { type, maxMoves: request.has('max_moves') ? request.number('max_moves') : -1, group }
    case 'capacity':
      return {
        type,
        instance: instanceOf(request),
        most: request.has('max_instances') ? request.number('max_instances') : -1,
      }
    default:
      throw new BadClusterData(`Invalid request type '${type}'`)
  }
}

function known(name: string, { instances }: ClusterData): string {
  if (!instances.some((one) => one.name === name)) throw new BadClusterData(`Unknown instance '${name}'`)
  return name
}

function modeOf(text: string): EvacMode {
  if (text === 'primary-only' || text === 'secondary-only' || text === 'all') return text
  throw new BadClusterData(`${IN_REQUEST}: key 'evac_mode': Invalid value ${text} for evacuation mode`)
}
