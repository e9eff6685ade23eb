// OP_GROUP_VERIFY_DISKS: finds running instances with inactive disks, and missing volumes. The watcher acts on the
// result.
import { instanceDisks, instanceNodes, logicalVolumes, nodesOfGroup } from '../../../config/lookup'
import { recordValues } from '../../../config/records'
import { type DiskDict, diskDict } from '../../../config/rpc-dicts'
import type { ConfigData, Instance, Node } from '../../../model/config'
import { niceSort } from '../../../model/nice-sort'
import { OpGroupVerifyDisks } from '../../../opcodes/group'
import { findGroup } from '../../find'
import { runningOn } from '../../instance/checks'
import { logicalUnit, shared } from '../../logical-unit'
import type { UnitContext } from '../../unit-context'
import { isMirrored, isMirroredInside } from '../../../model/templates'

interface Found {
  readonly failed: Map<string, string>
  readonly inactive: Set<string>
  readonly missing: Map<string, [node: string, volume: string][]>
}

const EVERYTHING = { instances: 'all', nodes: 'all', groups: 'all' } as const

export const groupVerifyDisks = logicalUnit(OpGroupVerifyDisks, {
  question: true,
  async locks(op, ctx) {
    const { object: group } = await findGroup(ctx, op.group_name)
    const config = await ctx.config.read(EVERYTHING)
    const instances = await usedInstances(ctx, config, group.uuid)
    const nodes = new Set<string>(instances.flatMap((instance) => instanceNodes(config, instance)))
    for (const node of nodesOfGroup(config, group.uuid)) nodes.add(node.uuid)
    return {
      instance: shared(instances.map((instance) => instance.name)),
      nodegroup: shared([group.uuid]),
      node: shared([...nodes]),
    }
  },
  async check(ctx, op) {
    const { object: group } = await findGroup(ctx, op.group_name)
    const config = await ctx.config.read(EVERYTHING)
    const held = ctx.locks.holds('instance')
    // Only used ones are locked.
    const mayBeUsed = (name: string): boolean => held === 'all' || held.includes(name)
    return { config, instances: await usedInstances(ctx, config, group.uuid, mayBeUsed) }
  },
  async run(ctx, op, { config, instances }) {
    const found: Found = { failed: new Map(), inactive: new Set(), missing: new Map() }
    await verifyVolumes(ctx, config, instances, found)
    await verifyMirrors(ctx, config, instances, op.is_strict, found)
    return [
      Object.fromEntries(found.failed),
      niceSort([...found.inactive]),
      Object.fromEntries([...found.missing].map(([name, volumes]) => [name, volumes])),
    ]
  },
})

/** Those whose disks count as active, and those that run although theirs do not, such as after a failover that failed. */
async function usedInstances(
  ctx: UnitContext,
  config: ConfigData,
  group: string,
  mayBeUsed: (name: string) => boolean = () => true,
): Promise<Instance[]> {
  const own = recordValues(config.instances).filter(
    ({ name, forthcoming, primary_node }) =>
      !forthcoming && config.nodes[primary_node]?.group === group && mayBeUsed(name),
  )
  const isOut = own.some(({ disks, disks_active }) => disks.length > 0 && !disks_active)
  const running = isOut ? await runningOn(ctx, config, nodesOfGroup(config, group)) : new Set<string>()
  return own.filter(({ name, disks_active }) => disks_active || running.has(name))
}

/** Every volume of each instance, by node. */
async function verifyVolumes(
  ctx: UnitContext,
  config: ConfigData,
  instances: readonly Instance[],
  found: Found,
): Promise<void> {
  const desired = new Map<Node, { instance: string; volume: string; isPart: boolean }[]>()
  for (const instance of instances)
    for (const disk of instanceDisks(config, instance)) {
      const isPart = isMirrored(disk.dev_type)
      const nodes = isPart ? instanceNodes(config, instance) : [instance.primary_node]
      for (const node of nodes.flatMap((uuid) => config.nodes[uuid] ?? []))
        for (const [vg, lv] of logicalVolumes(disk))
          desired.set(node, [...(desired.get(node) ?? []), { instance: instance.name, volume: `${vg}/${lv}`, isPart }])
    }
  const results = await ctx.nodes.many([...desired.keys()], 'lv_list', [[]])
  for (const [node, volumes] of desired) {
    const result = results.get(node.uuid) ?? { ok: false, error: 'no answer', offline: false }
    if (!result.ok && !result.offline) found.failed.set(node.name, result.error)
    if (!result.ok) continue
    for (const { instance, volume, isPart } of volumes) {
      const state = result.payload[volume]
      if (state === undefined)
        found.missing.set(instance, [...(found.missing.get(instance) ?? []), [node.name, volume]])
      // A mirror keeps its volumes open. A volume that is a disk itself only needs to be active, even without a running
      // instance.
      else if (isPart ? !state[2] : state[1]) found.inactive.add(instance)
    }
  }
}

/** Asks each node once, for all of its mirrors. Only a strict check reports a node that cannot answer. */
async function verifyMirrors(
  ctx: UnitContext,
  config: ConfigData,
  instances: readonly Instance[],
  strict: boolean,
  found: Found,
): Promise<void> {
  const mirrors = new Map<Node, { instance: string; dict: DiskDict }[]>()
  for (const instance of instances) {
    const group = config.nodegroups[config.nodes[instance.primary_node]?.group ?? '']
    const own = instanceDisks(config, instance).filter((disk) => isMirroredInside(disk.dev_type))
    const requested = own.map((disk) => ({ instance: instance.name, dict: diskDict(config, disk, group) }))
    if (requested.length === 0) continue
    for (const node of instanceNodes(config, instance).flatMap((uuid) => config.nodes[uuid] ?? []))
      if (!node.offline) mirrors.set(node, [...(mirrors.get(node) ?? []), ...requested])
  }
  const results = await ctx.nodes.many([...mirrors.keys()], 'drbd_needs_activation', ({ uuid }) => [
    [...mirrors].flatMap(([node, requested]) => (node.uuid === uuid ? requested.map(({ dict }) => dict) : [])),
  ])
  for (const [node, requested] of mirrors) {
    const result = results.get(node.uuid)
    if (result === undefined) continue
    if (!result.ok && strict) found.failed.set(node.name, result.error)
    if (!result.ok) continue
    for (const { instance, dict } of requested) if (result.payload.includes(dict.uuid)) found.inactive.add(instance)
  }
}
