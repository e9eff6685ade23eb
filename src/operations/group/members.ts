// A group with its nodes and instances, and the locks and checks that units on groups share.
import { instanceNodes, nodesOfGroup } from '../../config/lookup'
import type { ConfigData, Instance, NodeGroup } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { niceSort } from '../../model/nice-sort'
import { findGroup, type Found } from '../find'
import type { LockPlan } from '../logical-unit'
import { exclusive } from '../logical-unit'
import type { UnitContext } from '../unit-context'

interface NamesGroup {
  readonly group_name: string
}

/** The group, and the whole configuration around it. */
export async function findGroupAndAll(ctx: UnitContext, name: string): Promise<Found<NodeGroup>> {
  const { object } = await findGroup(ctx, name)
  const config = await ctx.config.read({ groups: 'all', nodes: 'all', instances: 'all', networks: 'all' })
  return { config, object: config.nodegroups[object.uuid] ?? object }
}

/** Instances with any of their nodes in the group. */
export function groupInstances(config: ConfigData, group: string): Instance[] {
  const nodes = new Set<string>(nodesOfGroup(config, group).map((node) => node.uuid))
  return Object.values(config.instances).filter((instance) =>
    instanceNodes(config, instance).some((uuid) => nodes.has(uuid)),
  )
}

export const groupInstanceNames = (config: ConfigData, group: string): string[] =>
  groupInstances(config, group).map((instance) => instance.name)

/** The instances were locked before their group, so others may have come or gone meanwhile. */
export function checkInstancesLocked(ctx: UnitContext, config: ConfigData, group: NodeGroup): Instance[] {
  const instances = groupInstances(config, group.uuid)
  const desired = instances.map((instance) => instance.name)
  const held = ctx.locks.holds('instance')
  if (held !== 'all' && !sameNames(held, desired))
    throw new OpPrereqError(
      `Instances in node group '${group.name}' changed since locks were acquired, wanted '${niceSort(desired).join(', ')}', have '${niceSort(held).join(', ')}'; retry the operation`,
      ECODE.STATE,
    )
  return instances
}

export const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  new Set(a).size === new Set(b).size && a.every((name) => b.includes(name))

/** Locks only the group, to change it. */
export async function lockGroup(op: NamesGroup, ctx: UnitContext): Promise<LockPlan> {
  const { object } = await findGroup(ctx, op.group_name)
  return { nodegroup: exclusive([object.uuid]) }
}

export const masterOnly = (config: ConfigData): { pre: string[]; post: string[] } => ({
  pre: [config.cluster.master_node],
  post: [config.cluster.master_node],
})
