// OP_NODE_EVACUATE: submits one job for each instance that must leave the node, to the place that the allocator chose.
import { diskTemplateOf, nodesOfGroup, primaryInstances, secondaryInstances } from '../../config/lookup'
import type { Allocators } from '../../model/allocators'
import type { ConfigData, Instance, Node } from '../../model/config'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { niceSort, niceSortBy } from '../../model/nice-sort'
import { OpNodeEvacuate } from '../../opcodes/node'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { findNode, namedNode } from '../find'
import { sameNames } from '../group/members'
import { allocatorsFor, firstThatFinds } from '../instance/placement/allocator'
import { evacuationJobs, planEmptying, planEvacuation } from '../instance/placement/evacuation'
import { logicalUnit, ResultWithJobs, shared, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { isMirrored, isMirroredInside } from '../../model/templates'

type Evacuate = Op<typeof OpNodeEvacuate>

/** The work to do, with the configuration as it is now. */
interface Plan {
  readonly config: ConfigData
  readonly node: Node
  /** The new secondary node, if one was given. */
  readonly remote: Node | undefined
  readonly allocators: Allocators | undefined
  readonly instances: readonly Instance[]
  readonly nodes: readonly Node[]
}

export const nodeEvacuate = logicalUnit(OpNodeEvacuate, {
  async locks(op, ctx) {
    const { nodes, instances } = await plan(ctx, op)
    return {
      instance: shared(names(instances)),
      nodegroup: shared(groups(nodes)),
      node: shared(nodes.map(({ uuid }) => uuid)),
    }
  },
  async check(ctx, op) {
    const desired = await plan(ctx, op)
    checkLocks(ctx, desired)
    const { node, instances, remote } = desired
    if (instances.length === 0) ctx.log.info(`No instances to evacuate from node '${node.name}'`)
    else ctx.log.info(`Evacuating instances from node '${node.name}': ${niceSort(names(instances)).join(', ')}`)
    const own = remote && instances.find((instance) => instance.primary_node === remote.uuid)
    if (remote && own)
      throw new OpPrereqError(
        `Node ${remote.name} is the primary node of instance ${own.name}, cannot use it as secondary`,
        ECODE.INVAL,
      )
    return desired
  },
  async run(ctx, op, { config, remote, allocators, instances, node }) {
    checkMovable(op, config, instances)
    const sorted = niceSortBy(instances, ({ name }) => name)
    if (allocators === undefined)
      return new ResultWithJobs(sorted.flatMap((instance) => (remote ? [[replaceJob(op, instance, remote)]] : [])))
    const isPrimary = ({ primary_node }: Instance) => primary_node === node.uuid
    const lenient = op.ignore_soft_errors === true
    const [primaries, secondaries] = [sorted.filter(isPrimary), sorted.filter((one) => !isPrimary(one))]
    const { mode } = op
    const planned = (allocator: string) =>
      mode === 'all'
        ? planEmptying(ctx, allocator, primaries, secondaries, lenient)
        : planEvacuation(ctx, allocator, sorted, mode, lenient)
    return new ResultWithJobs(
      await firstThatFinds(ctx, allocators, async (allocator) =>
        evacuationJobs(ctx, await planned(allocator), op, 'nodes'),
      ),
    )
  },
})

async function plan(ctx: UnitContext, op: Evacuate): Promise<Plan> {
  const { object: node } = await namedNode(ctx, op)
  const remote =
    op.remote_node === undefined ? undefined : (await findNode(ctx, op.remote_node, op.remote_node_uuid)).object
  const config = await ctx.config.read({ nodes: 'all', instances: 'all' })
  if (remote) ctx.note({ remote_node: remote.name, remote_node_uuid: remote.uuid })
  const allocators = await allocatorsFor(ctx, 'node-evacuate', config, op.iallocator, op.remote_node)
  if (remote?.uuid === node.uuid)
    throw new OpPrereqError('Can not use evacuated node as a new secondary node', ECODE.INVAL)
  if (remote && op.mode !== 'secondary-only')
    throw new OpPrereqError('Without the use of an iallocator only secondary instances can be evacuated', ECODE.INVAL)
  const nodes = remote ? [node, remote] : nodesOfGroup(config, node.group)
  return { config, node, remote, allocators, instances: instancesFor(op, config, node), nodes }
}

function instancesFor({ mode }: Evacuate, config: ConfigData, node: Node): Instance[] {
  return [
    ...(mode === 'secondary-only' ? [] : primaryInstances(config, node.uuid)),
    ...(mode === 'primary-only' ? [] : secondaryInstances(config, node.uuid)),
  ]
}

const names = (instances: readonly Instance[]): string[] => instances.map(({ name }) => name)
const groups = (nodes: readonly Node[]): string[] => [...new Set(nodes.map(({ group }) => group))]

/** The plan was made before the locks were held. */
function checkLocks(ctx: UnitContext, { node, nodes, instances }: Plan): void {
  const needed: [what: string, held: readonly string[] | 'all', wanted: readonly string[]][] = [
    [`Nodes in same group as '${node.name}'`, ctx.locks.holds('node'), nodes.map(({ uuid }) => uuid)],
    ['Node groups', ctx.locks.holds('nodegroup'), groups(nodes)],
    [`Instances on node '${node.name}'`, ctx.locks.holds('instance'), names(instances)],
  ]
  for (const [what, held, desired] of needed)
    if (held !== 'all' && !sameNames(held, desired))
      throw new OpExecError(
        `${what} changed since locks were acquired, current ones are '${niceSort(desired).join(', ')}', used to be '${niceSort(held).join(', ')}'; retry the operation`,
      )
}

/** Checks first that all instances can move at all. */
function checkMovable({ mode }: Evacuate, config: ConfigData, instances: readonly Instance[]): void {
  const may = mode === 'secondary-only' ? isMirroredInside : isMirrored
  const stuck = instances.flatMap((instance) => {
    const template = diskTemplateOf(config, instance)
    return template !== 'mixed' && may(template)
      ? []
      : [`${instance.name} (its disk template ${template} does not allow it)`]
  })
  if (stuck.length > 0) throw new OpExecError(`Unable to evacuate instances ${stuck.join(', ')}`)
}

const replaceJob = (op: Evacuate, instance: Instance, remote: Node): WireOpCode => ({
  OP_ID: 'OP_INSTANCE_REPLACE_DISKS',
  instance_name: instance.name,
  mode: 'replace_new_secondary',
  disks: [],
  early_release: op.early_release,
  remote_node: remote.name,
})
