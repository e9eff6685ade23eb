// Asks all nodes for their current memory, CPUs and storage, for the allocation.
import type { LiveNode } from '../../../allocation/sources/from-config'
import { fillHvParams, fillNdParams } from '../../../config/filled'
import type { ConfigData, Node } from '../../../model/config'
import type { ArgsOf } from '../../../rpc/node/calls'
import type { NodeInfo, StorageUnit } from '../../../rpc/node/dicts'
import type { NodeAccess } from '../../node-access'
import { type DiskTemplate, isOnLvm, directoryOf, factsOf, isLocalFile } from '../../../model/templates'

/** By uuid; nodes that do not answer are missing. `template`: the template whose storage is counted. */
export async function liveNodes(
  nodes: Pick<NodeAccess, 'many'>,
  config: ConfigData,
  template: DiskTemplate,
): Promise<ReadonlyMap<string, LiveNode>> {
  const { cluster } = config
  const specs = cluster.enabled_hypervisors.map(
    (hypervisor) => [hypervisor, fillHvParams(cluster, { hypervisor, os: '', hvparams: {} })] as const,
  )
  const requested = Object.values(config.nodes).filter((node) => !node.offline && node.vm_capable)
  const infoOf = (node: Node): ArgsOf<'node_info'> => [storageOf(config, node, template), specs.slice(0, 1)]
  const uuidOf = new Map(requested.map((node) => [node.uuid, node]))
  const running: ArgsOf<'all_instances_info'> = [specs.map(([name]) => name), Object.fromEntries(specs)]
  const [infos, instances] = await Promise.all([
    nodes.many(requested, 'node_info', ({ uuid }) => {
      const node = uuidOf.get(uuid)
      return node === undefined ? [[], []] : infoOf(node)
    }),
    nodes.many(requested, 'all_instances_info', running),
  ])
  const live = new Map<string, LiveNode>()
  for (const [uuid, info] of infos) {
    const own = instances.get(uuid)
    const used = own?.ok ? new Map(Object.entries(own.payload).map(([name, { memory }]) => [name, memory])) : undefined
    const node = info.ok ? liveNode(info.payload, used) : undefined
    if (node !== undefined) live.set(uuid, node)
  }
  return live
}

function liveNode(
  [, units, hypervisors]: NodeInfo,
  used: ReadonlyMap<string, number> | undefined,
): LiveNode | undefined {
  const [storage, spindles] = units ?? []
  const hypervisor = hypervisors?.[0]
  if (!hypervisor) return undefined
  return {
    memoryTotal: hypervisor.memory_total,
    memoryFree: hypervisor.memory_free,
    ownMemory: hypervisor.memory_dom0,
    cpus: hypervisor.cpu_total,
    ownCpus: hypervisor.cpu_dom0,
    diskTotal: storage?.storage_size ?? undefined,
    diskFree: storage?.storage_free ?? undefined,
    spindlesTotal: spindles?.storage_size ?? undefined,
    spindlesFree: spindles?.storage_free ?? undefined,
    ...(used && { used }),
  }
}

function storageOf(config: ConfigData, node: Node, template: DiskTemplate): StorageUnit[] {
  const { cluster } = config
  const directory = directoryOf(cluster, template)
  if (isLocalFile(template) && directory !== undefined) return [[factsOf(template).storage, directory, []]]
  const group = cluster.volume_group_name
  if (!isOnLvm(template) || group === undefined || group === '') return []
  const exclusive = fillNdParams(config, node).exclusive_storage
  return [
    ['lvm-vg', group, [exclusive]],
    ['lvm-pv', group, [exclusive]],
  ]
}
