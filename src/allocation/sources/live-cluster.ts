// The cluster from the remote API: lists of groups, nodes and instances, and facts about the whole.
import { BadClusterData, type ClusterData, type DiskData, NO_NODE, spindlesOf } from '../model/cluster-data'
import type { GroupData, InstanceData, NodeData } from '../model/cluster-data'
import { JsonFields } from './json-fields'
import { allocPolicyOf, policyOf, statusOf, templateOf } from './values'

/** As received, unchecked. */
export interface LiveRecords {
  readonly groups: unknown
  readonly nodes: unknown
  readonly instances: unknown
  readonly info: unknown
}

/** `nodeMemory_mib`: the memory of a KVM node itself, instead of its report; 0 uses the report. */
export function liveCluster(records: LiveRecords, nodeMemory_mib: number): ClusterData {
  const info = JsonFields.of('Parsing cluster data', records.info)
  const groups = listOf('Parsing group data', records.groups).map(parseGroup)
  const groupAt = new Map(groups.map(({ uuid }, at) => [uuid, at]))
  const own = info.string('default_hypervisor') === 'kvm' && nodeMemory_mib > 0 ? nodeMemory_mib : undefined
  const master = info.string('master')
  const nodes = listOf('Parsing node data', records.nodes).map((fields) => parseNode(fields, groupAt, own, master))
  const nodeAt = new Map(nodes.map(({ name }, at) => [name, at]))
  if (!nodeAt.has(master)) throw new BadClusterData(`Master node ${master} unknown`)
  return {
    groups,
    nodes,
    instances: listOf('Parsing instance data', records.instances).map((fields) => parseInstance(fields, nodeAt)),
    tags: info.strings('tags'),
    policy: policyOf(info.object('ipolicy', 'Parsing cluster data')),
  }
}

function listOf(what: string, value: unknown): JsonFields[] {
  if (!Array.isArray(value)) throw new BadClusterData(`${what}: not a list`)
  return value.map((one) => JsonFields.of(what, one))
}

function parseGroup(fields: JsonFields): GroupData {
  const name = fields.about('Parsing new group').string('name')
  const own = fields.about(`Group '${name}'`)
  return {
    name,
    uuid: own.string('uuid'),
    allocPolicy: allocPolicyOf(own.string('alloc_policy')),
    networks: [],
    policy: policyOf(own.object('ipolicy', `Group '${name}'`)),
    tags: own.strings('tags'),
  }
}

function parseNode(
  fields: JsonFields,
  groupAt: ReadonlyMap<string, number>,
  nodeMemory_mib: number | undefined,
  master: string,
): NodeData {
  const name = fields.about('Parsing new node').string('name')
  const owner = `Node '${name}', error while parsing data`
  const own = fields.about(owner)
  const parameters = own.object('ndparams', owner)
  const exclusive = parameters.boolean('exclusive_storage')
  const uuid = own.string('group.uuid')
  const group = groupAt.get(uuid)
  if (group === undefined) throw new BadClusterData(`Unknown group '${uuid}' for node ${name}`)
  const [offline, drained] = [own.boolean('offline'), own.boolean('drained')]
  const capable = !own.has('vm_capable') || own.boolean('vm_capable')
  const live = (key: string) => (offline || !capable ? 0 : own.number(key))
  const perhaps = (key: string) => (own.has(key) ? live(key) : 0)
  const unusable = offline ? 'offline' : !capable ? 'not vm_capable' : drained ? 'drained' : undefined
  return {
    name,
    totalMemory: live('mtotal'),
    nodeMemory: nodeMemory_mib ?? live('mnode'),
    freeMemory: live('mfree'),
    totalDisk: perhaps('dtotal'),
    freeDisk: perhaps('dfree'),
    totalCpus: live('ctotal'),
    nodeCpus: live('cnos'),
    offline: unusable !== undefined,
    ...(unusable !== undefined && { unusable }),
    master: name === master,
    group,
    spindles: exclusive ? live('sptotal') : parameters.number('spindle_count'),
    freeSpindles: perhaps('spfree'),
    tags: own.strings('tags'),
    exclusiveStorage: exclusive,
    cpuSpeed: parameters.has('cpu_speed') ? parameters.number('cpu_speed') : 1,
  }
}

function parseInstance(fields: JsonFields, nodeAt: ReadonlyMap<string, number>): InstanceData {
  const name = fields.about('Parsing new instance').string('name')
  const owner = `Instance '${name}', error while parsing data`
  const own = fields.about(owner)
  const parameters = own.object('beparams', owner)
  const memory = parameters.has('memory') ? 'memory' : 'maxmem'
  const [secondary] = own.strings('snodes')
  const node = (text: string) => {
    const at = nodeAt.get(text)
    if (at === undefined) throw new BadClusterData(`Unknown node '${text}' for instance ${name}`)
    return at
  }
  const spindles = own.list('disk.spindles')
  const disks = own.numbers('disk.sizes').map((size, at): DiskData => {
    const count = spindles[at]
    return { size, spindles: typeof count === 'number' ? count : undefined }
  })
  return {
    name,
    memory: own.isNumber('oper_ram') ? own.number('oper_ram') : parameters.number(memory),
    disk: own.number('disk_usage'),
    disks,
    vcpus: parameters.number('vcpus'),
    status: statusOf(own.string('status')),
    autoBalance: parameters.boolean('auto_balance'),
    primary: node(own.string('pnode')),
    secondary: secondary === undefined ? NO_NODE : node(secondary),
    template: templateOf(own.string('disk_template')),
    tags: own.strings('tags'),
    spindleUse: parameters.number('spindle_use'),
    spindles: spindlesOf(disks),
    forthcoming: own.has('forthcoming') && own.boolean('forthcoming'),
  }
}
