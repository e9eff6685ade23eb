// OP_GROUP_EVACUATE: asks the allocator for new places of a group's instances, and submits the jobs that move them.
import { instanceNodes, nodesOfGroup } from '../../config/lookup'
import type { ConfigData, NodeGroup } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { niceSortBy } from '../../model/nice-sort'
import { OpGroupEvacuate } from '../../opcodes/group'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { findGroup } from '../find'
import { allocatorsOfGroups, firstThatFinds } from '../instance/placement/allocator'
import { evacuationJobs, planGroupChange } from '../instance/placement/evacuation'
import { all, logicalUnit, ResultWithJobs, shared, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { checkInstancesLocked, findGroupAndAll, groupInstanceNames, groupInstances } from './members'

export const groupEvacuate = logicalUnit(OpGroupEvacuate, {
  async locks(op, ctx) {
    const { config, object: group } = await findGroupAndAll(ctx, op.group_name)
    await allocatorsOfGroups(ctx, config, op.iallocator)
    await givenTargets(ctx, op, group)
    return { instance: shared(groupInstanceNames(config, group.uuid)) }
  },
  /** Reads groups and nodes again when the instances are locked, because they may have changed before. */
  async declare(level, op, ctx) {
    if (level !== 'nodegroup' && level !== 'node') return undefined
    const { config, object: group } = await findGroupAndAll(ctx, op.group_name)
    const targets = await givenTargets(ctx, op, group)
    const groups = targets.length === 0 ? Object.keys(config.nodegroups) : usedGroups(config, [group, ...targets])
    if (level === 'nodegroup') return shared(targets.length === 0 ? all : groups)
    return shared(groups.flatMap((uuid) => nodesOfGroup(config, uuid).map((node) => node.uuid)))
  },
  async check(ctx, op) {
    const { config, object: group } = await findGroupAndAll(ctx, op.group_name)
    const instances = niceSortBy(checkInstancesLocked(ctx, config, group), ({ name }) => name)
    const input = (await givenTargets(ctx, op, group)).map(({ uuid }): string => uuid)
    const others = Object.keys(config.nodegroups).filter((uuid) => uuid !== group.uuid)
    const targets = input.length > 0 ? input : others
    if (targets.length === 0) throw new OpPrereqError('There are no possible target groups', ECODE.INVAL)
    const allocators = await allocatorsOfGroups(ctx, config, op.iallocator)
    return { config, group, instances, targets, allocators }
  },
  hooks: {
    path: 'group-evacuate',
    type: 'GROUP',
    env: (_ctx, op, { targets }) => ({ GROUP_NAME: op.group_name, TARGET_GROUPS: targets.join(' ') }),
    nodes(_ctx, _op, { config, group }) {
      const nodes = [config.cluster.master_node, ...nodesOfGroup(config, group.uuid).map((node) => node.uuid)]
      const unique = [...new Set<string>(nodes)]
      return { pre: unique, post: unique }
    },
  },
  async run(ctx, op, { group, instances, targets, allocators }) {
    const jobs = await firstThatFinds(ctx, allocators, async (allocator) =>
      evacuationJobs(ctx, await planGroupChange(ctx, allocator, instances, targets), op, 'group'),
    )
    ctx.log.info(`Iallocator returned ${jobs.length} job(s) for evacuating node group ${group.name}`)
    if (op.force_failover) ctx.log.info('Will insist on failovers')
    if (op.sequential) ctx.log.info('Jobs will be submitted to run sequentially')
    return new ResultWithJobs(jobs.map((ops, index) => ops.map((step) => adapted(op, step, index))))
  },
})

async function givenTargets(ctx: UnitContext, op: Op<typeof OpGroupEvacuate>, group: NodeGroup): Promise<NodeGroup[]> {
  const targets: NodeGroup[] = []
  for (const name of op.target_groups ?? []) targets.push((await findGroup(ctx, name)).object)
  if (targets.some(({ uuid }) => uuid === group.uuid))
    throw new OpPrereqError(
      `Group to be evacuated (${group.uuid}) can not be used as a target group (targets are ${targets.map(({ uuid }) => uuid).join(', ')})`,
      ECODE.INVAL,
    )
  return targets
}

/** The groups themselves, and groups with other nodes of the first group's instances. */
function usedGroups(config: ConfigData, [group, ...targets]: readonly [NodeGroup, ...NodeGroup[]]): string[] {
  const nodes = groupInstances(config, group.uuid).flatMap((instance) => instanceNodes(config, instance))
  const groups = nodes.flatMap((uuid) => config.nodes[uuid]?.group ?? [])
  return [...new Set<string>([group.uuid, ...targets.map(({ uuid }) => uuid), ...groups])]
}

/** If jobs must follow one another, each waits for the previous one, however that ends. */
function adapted(op: Op<typeof OpGroupEvacuate>, step: WireOpCode, job: number): WireOpCode {
  const own = op.force_failover ? failoverOf(step) : step
  return op.sequential && job > 0 ? { ...own, depends: [[-1, ['error', 'success']]] } : own
}

const FAILOVER_FIELDS: readonly string[] = [
  ...['instance_name', 'instance_uuid', 'target_node', 'target_node_uuid', 'ignore_ipolicy', 'cleanup'],
]

function failoverOf(step: WireOpCode): WireOpCode {
  if (step.OP_ID !== 'OP_INSTANCE_MIGRATE') return step
  const kept = Object.entries(step).filter(([name]) => FAILOVER_FIELDS.includes(name))
  return { ...Object.fromEntries(kept), OP_ID: 'OP_INSTANCE_FAILOVER' }
}
