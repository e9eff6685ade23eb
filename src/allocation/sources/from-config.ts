// The cluster from its own configuration, with the nodes' latest reports.
import { fillBeParams, fillIPolicy, fillNdParams } from '../../config/filled'
import { diskTemplateOf, instanceDisks, secondaryNodes } from '../../config/lookup'
import { recordValues } from '../../config/records'
import { mapInSlices } from '../../lib/work/slices'
import type { ConfigData, Instance, Node } from '../../model/config'
import { INSTANCES_AT_ONCE } from '../../model/limits/allocation'
import type { IPolicy, ISpec } from '../../model/params'
import {
  type ClusterData,
  type DiskData,
  type GroupData,
  type InstanceData,
  NO_NODE,
  type NodeData,
  type Policy,
  type Spec,
  spindlesOf,
  usesMemory,
} from '../model/cluster-data'
import { type DiskTemplate, factsOf, isDiskTemplate, IMMOVABLE, takesCounted } from '../../model/templates'

/** A node's figures about itself, in MiB. */
export interface LiveNode {
  readonly memoryTotal: number
  readonly memoryFree: number
  /** The memory of the node itself. */
  readonly ownMemory: number
  readonly cpus: number
  readonly ownCpus: number
  /** Figures of the storage in question; absent if nobody counts it. */
  readonly diskTotal?: number
  readonly diskFree?: number
  readonly spindlesTotal?: number
  readonly spindlesFree?: number
  /** Memory that its instances use now, by name; absent if the node did not report it. */
  readonly used?: ReadonlyMap<string, number>
}

/** `live` by node uuid, with the storage of `counted`. Nothing is placed on a node that did not answer. */
export async function clusterDataOf(
  config: ConfigData,
  live: ReadonlyMap<string, LiveNode>,
  counted: DiskTemplate,
): Promise<ClusterData> {
  const groups = recordValues(config.nodegroups)
  const nodes = recordValues(config.nodes)
  const nodeAt = new Map<string, number>(nodes.map(({ uuid }, at) => [uuid, at]))
  const instances = await mapInSlices(recordValues(config.instances), INSTANCES_AT_ONCE, (instance) =>
    instanceData(config, instance, nodeAt, counted),
  )
  const own: InstanceData[][] = nodes.map(() => [])
  for (const instance of instances) own[instance.primary]?.push(instance)
  const groupAt = new Map<string, number>(groups.map(({ uuid }, at) => [uuid, at]))
  return {
    groups: groups.map((group): GroupData => ({
      name: group.name,
      uuid: group.uuid,
      allocPolicy: group.alloc_policy,
      tags: group.tags,
      networks: Object.keys(group.networks),
      policy: policyOf(fillIPolicy(config.cluster, group)),
    })),
    nodes: await mapInSlices([...nodes.entries()], INSTANCES_AT_ONCE, ([at, node]) =>
      nodeData(config, node, groupAt.get(node.group) ?? 0, own[at] ?? [], live.get(node.uuid)),
    ),
    instances,
    tags: config.cluster.tags,
    policy: policyOf(config.cluster.ipolicy),
  }
}

function nodeData(
  config: ConfigData,
  node: Node,
  group: number,
  own: readonly InstanceData[],
  live: LiveNode | undefined,
): NodeData {
  const parameters = fillNdParams(config, node)
  const { exclusive_storage: exclusive } = parameters
  const unusable = whyUnusable(node, live)
  const counted = own.filter(usesMemory)
  const total = counted.reduce((sum, { memory }) => sum + memory, 0)
  // Memory that was promised to instances and is not used yet does not count as free.
  const owed =
    live?.used === undefined
      ? 0
      : counted.reduce((sum, { name, memory }) => sum + Math.max(0, memory - (live.used?.get(name) ?? 0)), 0)
  const [memoryTotal, free] = [live?.memoryTotal ?? 0, Math.max(0, (live?.memoryFree ?? 0) - owed)]
  return {
    name: node.name,
    totalMemory: memoryTotal,
    // Everything that is neither free nor an instance's counts as the node's own.
    nodeMemory: memoryTotal - free - total,
    freeMemory: free,
    totalDisk: live?.diskTotal ?? 0,
    freeDisk: live?.diskFree ?? 0,
    totalCpus: live?.cpus ?? 0,
    nodeCpus: live?.ownCpus ?? 0,
    offline: unusable !== undefined,
    ...(unusable !== undefined && { unusable }),
    master: node.uuid === config.cluster.master_node,
    group,
    spindles: exclusive ? (live?.spindlesTotal ?? 0) : parameters.spindle_count,
    freeSpindles: exclusive ? (live?.spindlesFree ?? 0) : 0,
    tags: node.tags,
    exclusiveStorage: exclusive,
    cpuSpeed: parameters.cpu_speed,
  }
}

function whyUnusable(node: Node, live: LiveNode | undefined): string | undefined {
  if (node.offline) return 'offline'
  if (node.drained) return 'drained'
  if (!node.vm_capable) return 'not vm_capable'
  return live === undefined ? 'no answer' : undefined
}

function instanceData(
  config: ConfigData,
  instance: Instance,
  nodeAt: ReadonlyMap<string, number>,
  counted: DiskTemplate,
): InstanceData {
  const be = fillBeParams(config.cluster, instance.beparams)
  const disks = instanceDisks(config, instance).map(({ size, spindles }): DiskData => ({ size, spindles }))
  const [secondary] = secondaryNodes(config, instance)
  const template = templateOf(diskTemplateOf(config, instance))
  return {
    name: instance.name,
    memory: be.maxmem,
    disk: diskSpace(template, disks),
    disks,
    vcpus: be.vcpus,
    status: STATUS[instance.admin_state],
    autoBalance: be.auto_balance,
    primary: nodeAt.get(instance.primary_node) ?? NO_NODE,
    secondary: secondary === undefined ? NO_NODE : (nodeAt.get(secondary) ?? NO_NODE),
    template,
    tags: instance.tags,
    spindleUse: be.spindle_use,
    spindles: spindlesOf(disks),
    forthcoming: instance.forthcoming === true,
    networks: instance.nics.flatMap(({ network }) => network ?? []),
    local: takesCounted(template, counted),
  }
}

const STATUS = { up: 'running', down: 'ADMIN_down', offline: 'ADMIN_offline' }

export const templateOf = (name: string): DiskTemplate => (isDiskTemplate(name) ? name : IMMOVABLE)

/** MiB on each node: a mirror needs room for its own records. */
export function diskSpace(template: DiskTemplate, disks: readonly { readonly size: number }[]): number {
  const { empty, adoptedOnly, meta = 0 } = factsOf(template)
  if (empty === true || adoptedOnly === true) return 0
  return disks.reduce((sum, { size }) => sum + size + meta, 0)
}

const policyOf = (policy: IPolicy): Policy => ({
  minMax: policy.minmax.map(({ min, max }) => ({ min: specOf(min), max: specOf(max) })),
  standard: specOf(policy.std),
  templates: policy['disk-templates'].map(templateOf),
  vcpuRatio: policy['vcpu-ratio'],
  spindleRatio: policy['spindle-ratio'],
})

const specOf = (spec: ISpec): Spec => ({
  memory: spec['memory-size'],
  cpus: spec['cpu-count'],
  disk: spec['disk-size'],
  disks: spec['disk-count'],
  nics: spec['nic-count'],
  spindles: spec['spindle-use'],
})
