// OP_INSTANCE_MULTI_ALLOC: places several new instances one after the other, and submits a job to create each.
import type { Allocators } from '../../model/allocators'
import type { ConfigData } from '../../model/config'
import { BUILTIN_IALLOCATOR } from '../../model/constants/words'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpInstanceCreate, OpInstanceMultiAlloc } from '../../opcodes/instance'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { findNode } from '../find'
import { all, fill, logicalUnit, ResultWithJobs, shared, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { placementFor } from './create/nodes'
import { checkArguments, checkChoices, wantedInstance, type CreateOp, type Wanted } from './create/plan'
import { inherit } from '../inherit'
import { givenOsParams } from './parameters/params'
import { firstThatFinds, givenOrDefaults } from './placement/allocator'
import { allocationOf, heldNodes, notHeld, Placer } from './placement/placement'
import { askScript } from '../iallocator/ask'
import { placedOf } from '../iallocator/results'
import { isMirroredInside } from '../../model/templates'

type MultiAllocOp = Op<typeof OpInstanceMultiAlloc>

interface WantedInstance {
  readonly wire: WireOpCode
  readonly create: CreateOp
  readonly instance: Wanted
}

interface Placed {
  readonly made: readonly Made[]
  readonly failed: readonly string[]
}

interface Made {
  readonly op: WireOpCode
  readonly name: string
}

export const instanceMultiAlloc = logicalUnit(OpInstanceMultiAlloc, {
  async locks(op, ctx) {
    const desired = instancesOf(op)
    const config = await ctx.config.read({ nodes: 'all' })
    const allocators = await allocatorsOf(ctx, config, op, desired)
    if (op.opportunistic_locking && allocators === undefined)
      throw refusal('Opportunistic locking is only available in combination with an instance allocator')
    refuseTwice(desired)
    const nodes =
      allocators === undefined
        ? shared(await givenNodes(ctx, desired))
        : op.opportunistic_locking
          ? { ...shared(Object.keys(config.nodes)), opportunistic: 1 }
          : shared(all)
    return { node: nodes, 'node-res': nodes }
  },
  /** The job locks the storage of exactly the nodes that it got. */
  declare: (level, op, ctx) =>
    level === 'node-res' && op.opportunistic_locking ? shared(ctx.locks.holds('node')) : undefined,
  check: (ctx, op) => placeAll(ctx, op),
  dryRun: (_op, placed) => ({ ...namesOf(placed), jobs: [] }),
  async run(ctx, op, placed) {
    const made: Made[] = []
    for (const one of placed.made) made.push({ ...one, op: await withNodes(ctx, one.op) })
    noteInstances(ctx, op, made)
    return new ResultWithJobs(
      made.map((one) => [one.op]),
      namesOf(placed),
    )
  },
})

const namesOf = ({ made, failed }: Placed) => ({ allocatable: made.map(({ name }) => name), failed })

const refusal = (text: string) => new OpPrereqError(text, ECODE.INVAL)

function instancesOf(op: MultiAllocOp): Pick<WantedInstance, 'wire' | 'create'>[] {
  const desired = op.instances.map((params) => {
    const wire: WireOpCode = { ...params, OP_ID: OpInstanceCreate.id }
    return { wire, create: fill(OpInstanceCreate, wire) }
  })
  if (desired.some(({ create }) => create.iallocator !== undefined))
    throw refusal('iallocator are not allowed to be set on instance objects')
  return desired
}

function refuseTwice(desired: readonly { create: CreateOp }[]): void {
  const names = desired.map(({ create }) => create.instance_name)
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  if (twice.length > 0) throw refusal(`There are duplicate instance names: ${[...new Set(twice)].join(', ')}`)
}

/** Undefined if the instances name their nodes; either all do, or none. */
async function allocatorsOf(
  ctx: UnitContext,
  config: ConfigData,
  { iallocator }: MultiAllocOp,
  desired: readonly { create: CreateOp }[],
): Promise<Allocators | undefined> {
  const named = desired.flatMap(({ create: { pnode, snode, disk_template } }) =>
    isMirroredInside(disk_template) ? [pnode !== undefined, snode !== undefined] : [pnode !== undefined],
  )
  if (named.includes(true) && named.includes(false))
    throw refusal('There are instance objects providing pnode/snode while others do not')
  if (named.includes(true) && iallocator === undefined) return undefined
  return givenOrDefaults(ctx, 'multi-allocate', config, iallocator, NEITHER)
}

const NEITHER =
  'No iallocator or nodes on the instances given and no cluster-wide default iallocator found; please specify either an iallocator or nodes on the instances or set a cluster-wide default iallocator'

async function givenNodes(ctx: UnitContext, desired: readonly { create: CreateOp }[]): Promise<string[]> {
  const names = desired.flatMap(({ create: { pnode, snode } }) => [pnode, snode].filter((name) => name !== undefined))
  return Promise.all(names.map(async (name) => (await findNode(ctx, name)).object.uuid))
}

async function placeAll(ctx: UnitContext, op: MultiAllocOp): Promise<Placed> {
  const config = await ctx.config.read({ nodes: 'all' })
  const desired: WantedInstance[] = []
  for (const one of instancesOf(op)) {
    checkArguments(one.create)
    if (one.create.commit)
      throw refusal(`The nodes of instance ${one.create.instance_name} are reserved: commit to it in a job of its own`)
    checkChoices(one.create)
    desired.push({ ...one, instance: await wantedInstance(ctx, config.cluster, one.create) })
  }
  const allocators = await allocatorsOf(ctx, config, op, desired)
  if (allocators === undefined)
    return { made: desired.map(({ wire, create }) => ({ op: wire, name: create.instance_name })), failed: [] }
  return firstThatFinds(ctx, allocators, (allocator) =>
    allocator === BUILTIN_IALLOCATOR ? placeBuiltIn(ctx, desired) : placeByScript(ctx, allocator, config, desired),
  )
}

const templatesOf = (desired: readonly WantedInstance[]): string[] => desired.map(({ instance }) => instance.template)

async function placeBuiltIn(ctx: UnitContext, desired: readonly WantedInstance[]): Promise<Placed> {
  const [made, failed]: [Made[], string[]] = [[], []]
  // All instances use one picture of the cluster, so that each sees those placed before.
  const placer = await Placer.open(ctx, templatesOf(desired))
  for (const { wire, create, instance } of desired) {
    const name = create.instance_name
    const nodes = placer.place(await placementFor(ctx, create, instance))
    if (typeof nodes === 'string') {
      ctx.log.warning(`No nodes for instance ${name}: ${nodes}`)
      failed.push(name)
    } else {
      const [pnode, snode] = nodes.map((node) => node.name)
      made.push({ op: { ...wire, pnode, ...(snode !== undefined && { snode }) }, name })
    }
  }
  return { made, failed }
}

/** Replaces the nodes by full names and uuids. */
async function withNodes(ctx: UnitContext, op: WireOpCode): Promise<WireOpCode> {
  const { pnode, snode } = op
  const node = async (key: string, input: unknown) => {
    if (typeof input !== 'string') return {}
    const { name, uuid } = (await findNode(ctx, input)).object
    return { [key]: name, [`${key}_uuid`]: uuid }
  }
  return { ...op, ...(await node('pnode', pnode)), ...(await node('snode', snode)) }
}

/** Shows in the job each instance with all its parameters, including omitted ones, and its nodes. */
function noteInstances(ctx: UnitContext, op: MultiAllocOp, made: readonly Made[]): void {
  const submitted = new Map(made.map((one) => [one.name, inherit(one.op, ctx.op)]))
  const instances = instancesOf(op).map(({ wire, create }) =>
    displayed(create, submitted.get(create.instance_name) ?? wire),
  )
  ctx.note({ instances })
}

function displayed(create: CreateOp, wire: WireOpCode): Record<string, unknown> {
  const input: Record<string, unknown> = { ...create, ...givenOsParams(create) }
  const params = Object.fromEntries(Object.keys(OpInstanceCreate.params).map((name) => [name, input[name] ?? null]))
  const { pnode = null, pnode_uuid = null, snode = null, snode_uuid = null } = wire
  const { dry_run = null, debug_level = 0, priority = 0, depends = null, comment = null, reason = [], OP_ID } = wire
  const common = { dry_run, debug_level, priority, depends, comment, reason, OP_ID }
  return { ...params, pnode, pnode_uuid, snode, snode_uuid, ...common }
}

/** One question for all. A script that ignores the restriction may choose nodes whose locks are not held. */
async function placeByScript(
  ctx: UnitContext,
  allocator: string,
  { nodes }: ConfigData,
  desired: readonly WantedInstance[],
): Promise<Placed> {
  const instances: unknown[] = []
  for (const { create, instance } of desired) instances.push(allocationOf(await placementFor(ctx, create, instance)))
  const among = ctx.locks.holds('node')
  const held = heldNodes(among, Object.values(nodes)).map(({ name }) => name)
  const request = { type: 'multi-allocate', instances, ...(among !== 'all' && { 'restrict-to-nodes': held }) }
  const placed = placedOf(
    (await askScript(ctx, allocator, { what: 'nodes', request, templates: templatesOf(desired) })).result,
  )
  const made: Made[] = []
  for (const { wire, create } of desired) {
    const name = create.instance_name
    const chosen = placed.get(name) ?? []
    const [pnode, snode] = chosen
    if (!chosen.every((node) => held.includes(node)))
      ctx.log.warning(`No nodes for instance ${name}: ${notHeld(chosen)}`)
    else if (pnode !== undefined) made.push({ op: { ...wire, pnode, ...(snode !== undefined && { snode }) }, name })
  }
  const done = new Set(made.map(({ name }) => name))
  return { made, failed: desired.map(({ create }) => create.instance_name).filter((name) => !done.has(name)) }
}
