// The cluster data for an allocator (Ganeti's iallocator protocol): the configuration, and the usage of the nodes.
import { diskSpace, templateOf, type LiveNode } from '../../allocation/sources/from-config'
import { fillBeParams, fillIPolicy, fillNdParams, fillNicParams } from '../../config/filled'
import { diskTemplateOf, instanceDisks, instanceNodes } from '../../config/lookup'
import type { ConfigData, Instance, Node, NodeUuid } from '../../model/config'
import { IALLOCATOR_VERSION } from '../../model/constants/versions'
import { liveNodes } from '../instance/placement/live-nodes'
import type { UnitContext } from '../unit-context'
import type { DiskTemplate } from '../../model/templates'

type Json = Readonly<Record<string, unknown>>

/** `template`: the template whose storage is counted. */
export async function clusterData(ctx: UnitContext, config: ConfigData, template: DiskTemplate): Promise<Json> {
  const { cluster } = config
  return {
    version: IALLOCATOR_VERSION,
    cluster_name: cluster.cluster_name,
    cluster_tags: cluster.tags,
    enabled_hypervisors: cluster.enabled_hypervisors,
    ipolicy: cluster.ipolicy,
    nodegroups: groupData(config),
    nodes: await nodeData(ctx, config, template),
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

/** Nodes that do not answer count as offline. */
async function nodeData(ctx: UnitContext, config: ConfigData, template: DiskTemplate): Promise<Json> {
  const answers = await liveNodes(ctx.nodes, config, template)
  const ofNode = (node: Node) => {
    const fixed = fixedData(config, node)
    if (node.offline || !node.vm_capable) return fixed
    const live = answers.get(node.uuid)
    if (live !== undefined) return { ...liveData(config, node, live), ...fixed }
    ctx.log.warning(`Can't get data for node ${node.name}, so no instance will be placed there`)
    return { ...fixed, offline: true }
  }
  return Object.fromEntries(Object.values(config.nodes).map((node) => [node.name, ofNode(node)]))
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

function liveData(config: ConfigData, node: Node, live: LiveNode): Json {
  const memory = memoryOf(config, node.uuid, live.used)
  return {
    total_memory: live.memoryTotal,
    reserved_memory: live.ownMemory,
    free_memory: live.memoryFree - memory.notUsedYet_mib,
    total_disk: live.diskTotal ?? 0,
    free_disk: live.diskFree ?? 0,
    total_spindles: live.spindlesTotal ?? 0,
    free_spindles: live.spindlesFree ?? 0,
    total_cpus: live.cpus,
    reserved_cpus: live.ownCpus,
    i_pri_memory: memory.all_mib,
    i_pri_up_memory: memory.up_mib,
  }
}

/** Memory of a node's primary instances. Memory that an instance should have but does not use yet is not free. */
function memoryOf(config: ConfigData, node: NodeUuid, used: LiveNode['used']) {
  let [all_mib, up_mib, notUsedYet_mib] = [0, 0, 0]
  for (const instance of Object.values(config.instances)) {
    if (instance.primary_node !== node) continue
    const { maxmem } = fillBeParams(config.cluster, instance.beparams)
    all_mib += maxmem
    if (instance.admin_state !== 'up' || instance.forthcoming === true) continue
    up_mib += maxmem
    if (used !== undefined) notUsedYet_mib += Math.max(0, maxmem - (used.get(instance.name) ?? 0))
  }
  return { all_mib, up_mib, notUsedYet_mib }
}

function instanceData(config: ConfigData, instance: Instance): Json {
  const be = fillBeParams(config.cluster, instance.beparams)
  const disks = instanceDisks(config, instance)
  const template = diskTemplateOf(config, instance)
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
    disk_template: template,
    disks_active: instance.disks_active,
    hypervisor: instance.hypervisor,
    disk_space_total: diskSpace(templateOf(template), disks),
    ...(instance.forthcoming === true && { forthcoming: true }),
  }
}
