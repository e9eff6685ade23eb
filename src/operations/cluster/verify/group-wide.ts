// Checks of the whole group: enough memory when a node fails, tags that exclude each other, and notices.
import { fillBeParams } from '../../../config/filled'
import { KVM_NODE_MEMORY_MIB, memoryForInstances } from '../../../allocation/model/cluster-data'
import { instanceDisks, primaryInstances, secondaryInstances } from '../../../config/lookup'
import type { ConfigData, Instance } from '../../../model/config'
import type { GroupState, NodeImage } from './group-state'
import { entries } from './nodes'
import type { VerifyReport } from './report'
import { isMirrored } from '../../../model/templates'

/** Checks that every secondary can take over the instances of any one other node, as `hcheck` and `hbal` do. */
export function verifyMemory(report: VerifyReport, { config, images }: GroupState): void {
  for (const image of images) {
    const { node } = image
    const needed = new Map<string, number>()
    for (const instance of secondaryInstances(config, node.uuid)) {
      const be = fillBeParams(config.cluster, instance.beparams)
      if (be.auto_balance && instance.admin_state !== 'offline')
        needed.set(instance.primary_node, (needed.get(instance.primary_node) ?? 0) + be.maxmem)
    }
    const memory = freeMemory(report, config, image)
    if (node.offline || memory === undefined) continue
    for (const [uuid, needed_mib] of needed) {
      const primary = config.nodes[uuid]?.name ?? uuid
      const lacks = (free_mib: number, besides = '') =>
        `not enough memory to accommodate instance failovers should node ${primary} fail (${needed_mib}MiB needed, ${free_mib}MiB available${besides})`
      const measured = report.when(memory.free_mib < needed_mib, 'ENODEN1', node.name, lacks(memory.free_mib))
      if (measured) continue
      const kept = ` when ${KVM_NODE_MEMORY_MIB}MiB are kept for the node itself, as hcheck and hbal do`
      const text = lacks(memory.cautious_mib, kept)
      report.when(memory.cautious_mib < needed_mib, 'ENODEN1', node.name, text, 'WARNING')
    }
  }
}

/** `free_mib` by what the node itself uses now, `cautious_mib` by what the htools keep for it. */
function freeMemory(
  report: VerifyReport,
  config: ConfigData,
  image: NodeImage,
): { free_mib: number; cautious_mib: number } | undefined {
  const { node, result, answer } = image
  if (!result.ok || !node.vm_capable) return undefined
  const { memory_free: free, memory_total: total, memory_dom0: own } = Object.fromEntries(entries(answer['hvinfo']))
  report.when(typeof free !== 'number', 'ENODEHV', node.name, 'rpc call to node failed (hvinfo)')
  if (typeof free !== 'number' || typeof total !== 'number' || typeof own !== 'number') return undefined
  const used = primaryInstances(config, node.uuid)
    .filter(({ name }) => image.running?.includes(name))
    .reduce((sum, { beparams }) => sum + fillBeParams(config.cluster, beparams).maxmem, 0)
  const free_mib = (own_mib: number) => memoryForInstances(total, own_mib, free, used) - used
  const kept = config.cluster.enabled_hypervisors[0] === 'kvm' ? KVM_NODE_MEMORY_MIB : own
  return { free_mib: free_mib(own), cautious_mib: free_mib(kept) }
}

const EXCLUSION = 'htools:iextags:'

/** Instances with the same exclusion tag should not share a node. */
export function verifyExclusionTags(report: VerifyReport, { config, instances }: GroupState, node: NodeImage): void {
  const prefixes = config.cluster.tags.flatMap((tag) =>
    tag.startsWith(EXCLUSION) ? [tag.slice(EXCLUSION.length)] : [],
  )
  const observed = new Set<string>()
  const twice = new Set<string>()
  for (const instance of instances.filter((one) => one.primary_node === node.node.uuid))
    for (const tag of instance.tags.filter((one) => prefixes.some((prefix) => one.startsWith(prefix))))
      (observed.has(tag) ? twice : observed).add(tag)
  const text = `Tags where there is more than one instance: ${[...twice].join(', ')}`
  report.when(twice.size > 0, 'EEXTAGS', node.node.name, text, 'WARNING')
}

export function otherNotes(report: VerifyReport, { config, nodes, instances }: GroupState): void {
  report.say('* Other Notes')
  const count = (text: string, number: number) => number > 0 && report.notice(`${number} ${text} found.`)
  const redundant = (instance: Instance) => instanceDisks(config, instance).every((disk) => isMirrored(disk.dev_type))
  count('non-redundant instance(s)', instances.filter((instance) => !redundant(instance)).length)
  const balanced = (instance: Instance) => fillBeParams(config.cluster, instance.beparams).auto_balance
  count('non-auto-balanced instance(s)', instances.filter((instance) => !balanced(instance)).length)
  count('offline instance(s)', instances.filter((instance) => instance.admin_state === 'offline').length)
  count('offline node(s)', nodes.filter((node) => node.offline).length)
  count('drained node(s)', nodes.filter((node) => node.drained && !node.offline && !node.master_candidate).length)
}
