// OP_NODE_EVACUATE: submits one job for each instance that has to leave the node. Where each goes is settled when its job runs: the
// jobs use the allocator themselves, with what the nodes are like by then.
import { diskTemplateOf, instanceDisks, nodesOfGroup, primaryInstances, secondaryInstances } from '../../config/lookup'
import type { ConfigData, Instance, Node } from '../../model/config'
import { DTS_INT_MIRROR, DTS_MIRRORED } from '../../model/constants/disks'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { niceSort, niceSortBy } from '../../model/nice-sort'
import { OpNodeEvacuate } from '../../opcodes/node'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { findNode, namedNode } from '../find'
import { sameNames } from '../group/members'
import { allocatorFor } from '../instance/placement'
import { logicalUnit, ResultWithJobs, shared, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'

type Evacuate = Op<typeof OpNodeEvacuate>

/** What is to be done, as the configuration is now. */
interface Plan {
  readonly config: ConfigData
  readonly node: Node
  /** The new secondary node, where one was given. */
  readonly remote: Node | undefined
  readonly allocator: string | undefined
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
    const wanted = await plan(ctx, op)
    checkLocks(ctx, wanted)
    const { node, instances, remote } = wanted
    if (instances.length === 0) ctx.log.info(`No instances to evacuate from node '${node.name}'`)
    else ctx.log.info(`Evacuating instances from node '${node.name}': ${niceSort(names(instances)).join(', ')}`)
    const own = remote && instances.find((instance) => instance.primary_node === remote.uuid)
    if (remote && own)
      throw new OpPrereqError(
        `Node ${remote.name} is the primary node of instance ${own.name}, cannot use it as secondary`,
        ECODE.INVAL,
      )
    return wanted
  },
  run(ctx, op, { config, remote, allocator, instances }) {
    checkMovable(ctx, op, config, instances)
    const job = (instance: Instance): WireOpCode[] => [
      op.mode === 'primary-only'
        ? moveJob(config, instance, allocator)
        : replaceJob(op, instance, remote ? { remote_node: remote.name } : { iallocator: allocator }),
    ]
    return Promise.resolve(new ResultWithJobs(niceSortBy(instances, ({ name }) => name).map(job)))
  },
})

async function plan(ctx: UnitContext, op: Evacuate): Promise<Plan> {
  const { object: node } = await namedNode(ctx, op)
  const remote =
    op.remote_node === undefined ? undefined : (await findNode(ctx, op.remote_node, op.remote_node_uuid)).object
  const config = await ctx.config.read({ nodes: 'all', instances: 'all' })
  const allocator = allocatorFor(config, op.iallocator, op.remote_node)
  if (remote?.uuid === node.uuid)
    throw new OpPrereqError('Can not use evacuated node as a new secondary node', ECODE.INVAL)
  if (remote && op.mode !== 'secondary-only')
    throw new OpPrereqError('Without the use of an iallocator only secondary instances can be evacuated', ECODE.INVAL)
  const nodes = remote ? [node, remote] : nodesOfGroup(config, node.group)
  return { config, node, remote, allocator, instances: instancesFor(op, config, node), nodes }
}

function instancesFor({ mode }: Evacuate, config: ConfigData, node: Node): Instance[] {
  if (mode === 'all')
    throw new OpPrereqError(
      'Due to an issue with the iallocator interface it is not possible to evacuate all instances at once; specify explicitly whether to evacuate primary or secondary instances',
      ECODE.INVAL,
    )
  return mode === 'primary-only' ? primaryInstances(config, node.uuid) : secondaryInstances(config, node.uuid)
}

const names = (instances: readonly Instance[]): string[] => instances.map(({ name }) => name)
const groups = (nodes: readonly Node[]): string[] => [...new Set(nodes.map(({ group }) => group))]

/** The plan was made before there were locks. */
function checkLocks(ctx: UnitContext, { node, nodes, instances }: Plan): void {
  const needed: [what: string, held: readonly string[] | 'all', wanted: readonly string[]][] = [
    [`Nodes in same group as '${node.name}'`, ctx.locks.holds('node'), nodes.map(({ uuid }) => uuid)],
    ['Node groups', ctx.locks.holds('nodegroup'), groups(nodes)],
    [`Instances on node '${node.name}'`, ctx.locks.holds('instance'), names(instances)],
  ]
  for (const [what, held, wanted] of needed)
    if (held !== 'all' && !sameNames(held, wanted))
      throw new OpExecError(
        `${what} changed since locks were acquired, current ones are '${niceSort(wanted).join(', ')}', used to be '${niceSort(held).join(', ')}'; retry the operation`,
      )
}

/** All or nothing: nobody wants to find out afterwards that the node is not empty. */
function checkMovable(ctx: UnitContext, { mode }: Evacuate, config: ConfigData, instances: readonly Instance[]): void {
  const templates = mode === 'primary-only' ? DTS_MIRRORED : DTS_INT_MIRROR
  const stuck = instances.flatMap((instance) => {
    const template = diskTemplateOf(config, instance)
    return templates.some((other) => other === template)
      ? []
      : [`${instance.name} (its disk template ${template} does not allow it)`]
  })
  if (stuck.length > 0) throw new OpExecError(`Unable to evacuate instances ${stuck.join(', ')}`)
  if (instances.length > 0) ctx.log.info(`Instances to be moved: ${niceSort(names(instances)).join(', ')}`)
}

/** A mirrored instance goes to where its other half is; the allocator has no say in that. */
function moveJob(config: ConfigData, instance: Instance, allocator: string | undefined): WireOpCode {
  const fixed = instanceDisks(config, instance).some((disk) => DTS_INT_MIRROR.includes(disk.dev_type))
  return {
    OP_ID: 'OP_INSTANCE_MIGRATE',
    instance_name: instance.name,
    allow_failover: true,
    ...(!fixed && { iallocator: allocator }),
  }
}

const replaceJob = (op: Evacuate, instance: Instance, target: Readonly<Record<string, unknown>>): WireOpCode => ({
  OP_ID: 'OP_INSTANCE_REPLACE_DISKS',
  instance_name: instance.name,
  mode: 'replace_new_secondary',
  disks: [],
  early_release: op.early_release,
  ...target,
})
