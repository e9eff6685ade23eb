// What an allocator is told of the cluster (Ganeti's iallocator protocol): the configuration, and how full the nodes are.
import { fillBeParams, fillIPolicy, fillNdParams, fillNicParams } from '../../config/filled'
import { diskTemplateOf, instanceDisks, instanceNodes } from '../../config/lookup'
import type { ConfigData, DiskTemplate, Hypervisor, Instance, Node, NodeUuid } from '../../model/config'
import { DRBD_META_SIZE_MIB, STORAGE_TYPE_OF_TEMPLATE } from '../../model/constants/disks'
import { IALLOCATOR_VERSION } from '../../model/constants/versions'
import type { NodeResult } from '../../rpc/node/client'
import type { InstanceRuntime, NodeInfo, StorageInfo, StorageUnit } from '../../rpc/node/dicts'
import type { UnitContext } from '../unit-context'

/** What the nodes are asked about. */
export interface LiveQuestion {
  readonly hypervisor: Hypervisor
  readonly template: DiskTemplate
}

type Json = Readonly<Record<string, unknown>>

export async function clusterData(ctx: UnitContext, config: ConfigData, question: LiveQuestion): Promise<Json> {
  const { cluster } = config
  return {
    version: IALLOCATOR_VERSION,
    cluster_name: cluster.cluster_name,
    cluster_tags: cluster.tags,
    enabled_hypervisors: cluster.enabled_hypervisors,
    ipolicy: cluster.ipolicy,
    nodegroups: groupData(config),
    nodes: await nodeData(ctx, config, question),
    instances: Object.fromEntries(
      Object.values(config.instances).map((instance) => [instance.name, instanceData(config, instance)]),
    ),
  }
}

const groupData = ({ cluster, nodegroups }: ConfigData): Json =>
  Object.fromEntries(
    Object.values(nodegroups).map((group) => [
      group.uuid,
      {
        name: group.name,
        alloc_policy: group.alloc_policy,
        networks: Object.keys(group.networks),
        ipolicy: fillIPolicy(cluster, group),
        tags: group.tags,
      },
    ]),
  )

/** Nodes that do not answer are as good as offline. */
async function nodeData(ctx: UnitContext, config: ConfigData, question: LiveQuestion): Promise<Json> {
  const { cluster } = config
  const nodes = Object.values(config.nodes)
  const asked = nodes.filter((node) => node.vm_capable && !node.offline)
  const hypervisor = [question.hypervisor, cluster.hvparams[question.hypervisor] ?? {}] as const
  const [info, running] = await Promise.all([
    ctx.nodes.many(asked, 'node_info', (node) => [storageUnits(config, node.uuid, question.template), [hypervisor]]),
    ctx.nodes.many(asked, 'all_instances_info', [[...cluster.enabled_hypervisors], cluster.hvparams]),
  ])
  const ofNode = (node: Node) => {
    const fixed = fixedData(config, node)
    if (!asked.includes(node)) return fixed
    const live = liveData(config, node, info.get(node.uuid), running.get(node.uuid))
    if (live !== undefined) return { ...live, ...fixed }
    ctx.log.warning(`Can't get data for node ${node.name}, so no instance will be placed there`)
    return { ...fixed, offline: true }
  }
  return Object.fromEntries(nodes.map((node) => [node.name, ofNode(node)]))
}

const fixedData = (config: ConfigData, node: Node): Json => ({
  tags: node.tags,
  primary_ip: node.primary_ip,
  secondary_ip: node.secondary_ip,
  offline: node.offline,
  drained: node.drained,
  master_candidate: node.master_candidate,
  group: node.group,
  master_capable: node.master_capable,
  vm_capable: node.vm_capable,
  ndparams: fillNdParams(config, node),
})

function liveData(
  config: ConfigData,
  node: Node,
  info: NodeResult<NodeInfo> | undefined,
  running: NodeResult<Record<string, InstanceRuntime>> | undefined,
): Json | undefined {
  if (info?.ok !== true || running?.ok !== true) return undefined
  const [, storage, [hypervisor]] = info.payload
  if (!hypervisor) return undefined
  const [space, spindles] = [storage[0], storage[1]]
  const memory = memoryOf(config, node.uuid, running.payload)
  return {
    total_memory: hypervisor.memory_total,
    reserved_memory: hypervisor.memory_dom0,
    free_memory: hypervisor.memory_free - memory.notUsedYet_mib,
    ...spaceOf(space, spindles),
    total_cpus: hypervisor.cpu_total,
    reserved_cpus: hypervisor.cpu_dom0,
    i_pri_memory: memory.all_mib,
    i_pri_up_memory: memory.up_mib,
  }
}

const spaceOf = (space: StorageInfo | null | undefined, spindles: StorageInfo | null | undefined): Json => ({
  total_disk: space?.storage_size ?? 0,
  free_disk: space?.storage_free ?? 0,
  total_spindles: spindles?.storage_size ?? 0,
  free_spindles: spindles?.storage_free ?? 0,
})

/** Of a node's primary instances. What those that should run do not use yet is not free. */
function memoryOf(config: ConfigData, node: NodeUuid, running: Readonly<Record<string, InstanceRuntime>>) {
  let [all_mib, up_mib, notUsedYet_mib] = [0, 0, 0]
  for (const instance of Object.values(config.instances)) {
    if (instance.primary_node !== node) continue
    const { maxmem } = fillBeParams(config.cluster, instance.beparams)
    all_mib += maxmem
    if (instance.admin_state !== 'up' || instance.forthcoming === true) continue
    up_mib += maxmem
    notUsedYet_mib += Math.max(0, maxmem - (running[instance.name]?.memory ?? 0))
  }
  return { all_mib, up_mib, notUsedYet_mib }
}

/** With LVM, its spindles too. Other kinds of storage have no room of their own to tell of. */
function storageUnits(config: ConfigData, nodeUuid: string, template: DiskTemplate): StorageUnit[] {
  const { cluster, nodes } = config
  const type = STORAGE_TYPE_OF_TEMPLATE[template]
  if (type === 'file') return [['file', cluster.file_storage_dir, []]]
  const node = nodes[nodeUuid]
  if (type !== 'lvm-vg' || node === undefined) return []
  const [group, exclusive] = [cluster.volume_group_name ?? '', fillNdParams(config, node).exclusive_storage]
  return [
    ['lvm-vg', group, [exclusive]],
    ['lvm-pv', group, [exclusive]],
  ]
}

function instanceData(config: ConfigData, instance: Instance): Json {
  const be = fillBeParams(config.cluster, instance.beparams)
  const disks = instanceDisks(config, instance)
  return {
    tags: instance.tags,
    admin_state: instance.admin_state,
    vcpus: be.vcpus,
    memory: be.maxmem,
    spindle_use: be.spindle_use,
    os: instance.os,
    nodes: instanceNodes(config, instance).flatMap((uuid) => config.nodes[uuid]?.name ?? []),
    nics: instance.nics.map((nic) => {
      const { mode, link } = fillNicParams(config.cluster, nic)
      return { mac: nic.mac, ip: nic.ip ?? null, mode, link, ...(mode === 'bridged' && { bridge: link }) }
    }),
    disks: disks.map(({ dev_type, size, mode, spindles }) => ({
      dev_type,
      size,
      mode,
      spindles: spindles ?? null,
    })),
    disk_template: diskTemplateOf(config, instance),
    disks_active: instance.disks_active,
    hypervisor: instance.hypervisor,
    disk_space_total: diskSpace_mib(disks),
    ...(instance.forthcoming === true && { forthcoming: true }),
  }
}

/** What disks take of the nodes' storage. */
export function diskSpace_mib(disks: readonly { readonly dev_type: DiskTemplate; readonly size: number }[]): number {
  const space = (type: DiskTemplate, size: number): number => {
    if (type === 'diskless' || type === 'blockdev') return 0
    return type === 'drbd' ? size + DRBD_META_SIZE_MIB : size
  }
  return disks.reduce((sum, { dev_type, size }) => sum + space(dev_type, size), 0)
}
