// OP_INSTANCE_CHANGE_GROUP: asks the allocator for a place in other groups, and submits the jobs that move the instance
// there.
import { instanceNodes, nodesOfGroup } from '../../config/lookup'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpInstanceChangeGroup } from '../../opcodes/instance'
import { findGroup } from '../find'
import { masterOnly } from '../group/members'
import { all, logicalUnit, ResultWithJobs, shared, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { instanceHookEnv } from './hook-env'
import { allocatorsOfGroups, firstThatFinds } from './placement/allocator'
import { evacuationJobs, planGroupChange } from './placement/evacuation'
import { locksOfInstance, readInstance, type InstanceView } from './view'

export const instanceChangeGroup = logicalUnit(OpInstanceChangeGroup, {
  async locks(op, ctx) {
    await givenTargets(ctx, op)
    await allocatorsOfGroups(ctx, await ctx.config.read({}), op.iallocator)
    return locksOfInstance([], { mode: 'shared' }).locks(op, ctx)
  },
  async declare(level, op, ctx) {
    if (level !== 'nodegroup' && level !== 'node') return undefined
    const targets = await givenTargets(ctx, op)
    if (targets.length === 0) return shared(all)
    const groups = [...new Set([...targets, ...groupsOf(await readInstance(ctx, op))])]
    if (level === 'nodegroup') return shared(groups)
    const config = await ctx.config.read({ nodes: 'all' })
    return shared(groups.flatMap((uuid) => nodesOfGroup(config, uuid).map((node) => node.uuid)))
  },
  async check(ctx, op) {
    const view = await readInstance(ctx, op)
    const { nodegroups } = await ctx.config.read({ groups: 'all' })
    const own = groupsOf(view)
    const input = await givenTargets(ctx, op)
    const targets = input.length > 0 ? input : Object.keys(nodegroups).filter((uuid) => !own.includes(uuid))
    const conflicting = targets.filter((uuid) => own.includes(uuid))
    if (conflicting.length > 0)
      throw new OpPrereqError(
        `Can't use group(s) '${conflicting.join(', ')}' as targets, they are used by the instance '${view.instance.name}'`,
        ECODE.INVAL,
      )
    if (targets.length === 0) throw new OpPrereqError('There are no possible target groups', ECODE.INVAL)
    return { view, targets, allocators: await allocatorsOfGroups(ctx, view.config, op.iallocator) }
  },
  hooks: {
    path: 'instance-change-group',
    type: 'INSTANCE',
    env: (ctx, _op, { view, targets }) =>
      instanceHookEnv(ctx, view.instance.uuid, { TARGET_GROUPS: targets.join(' ') }),
    nodes: (_ctx, _op, { view }) => masterOnly(view.config),
  },
  async run(ctx, op, { view, targets, allocators }) {
    const jobs = await firstThatFinds(ctx, allocators, async (allocator) =>
      evacuationJobs(ctx, await planGroupChange(ctx, allocator, [view.instance], targets), op, 'group'),
    )
    ctx.log.info(`Iallocator returned ${jobs.length} job(s) for changing group of instance '${view.instance.name}'`)
    return new ResultWithJobs(jobs)
  },
})

async function givenTargets(ctx: UnitContext, op: Op<typeof OpInstanceChangeGroup>): Promise<string[]> {
  const targets: string[] = []
  for (const name of op.target_groups ?? []) targets.push((await findGroup(ctx, name)).object.uuid)
  return targets
}

/** The groups of all the instance's nodes. */
function groupsOf({ config, instance }: InstanceView): string[] {
  return [...new Set<string>(instanceNodes(config, instance).flatMap((uuid) => config.nodes[uuid]?.group ?? []))]
}
