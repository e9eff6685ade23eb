// OP_INSTANCE_MULTI_ALLOC: places several new instances, one after the other, and submits a job that makes each.
import type { DiskTemplate } from '../../model/config'
import { BUILTIN_IALLOCATOR } from '../../model/constants/words'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpInstanceCreate, OpInstanceMultiAlloc } from '../../opcodes/instance'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { all, fill, logicalUnit, ResultWithJobs, shared, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { placementFor } from './create'
import { checkArguments, wantedInstance, type CreateOp, type Wanted } from './create-plan'
import { inherit } from '../inherit'
import { givenOsParams } from './params'
import { allocatorFor } from './allocator'
import { allocationOf, Placer } from './placement'
import { askScript } from '../iallocator/ask'
import { placedOf } from '../iallocator/results'

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
    const wanted = instancesOf(op)
    if (!namesNodes(wanted)) allocatorFor(await ctx.config.read({}), op.iallocator)
    if (op.opportunistic_locking && op.iallocator === undefined)
      throw refusal('Opportunistic locking is only available in combination with an instance allocator')
    const nodes = { ...shared(all), ...(op.opportunistic_locking && { opportunistic: 1 }) }
    return { node: nodes, 'node-res': nodes }
  },
  check: (ctx, op) => placeAll(ctx, op),
  dryRun: (_op, placed) => ({ ...namesOf(placed), jobs: [] }),
  async run(ctx, op, placed) {
    const { nodes } = await ctx.config.read({ nodes: 'all' })
    const uuids = new Map(Object.values(nodes).map(({ name, uuid }) => [name, uuid]))
    const made = placed.made.map((one) => ({ ...one, op: withUuids(one.op, uuids) }))
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
  const wanted = op.instances.map((params) => {
    const wire: WireOpCode = { ...params, OP_ID: OpInstanceCreate.id }
    return { wire, create: fill(OpInstanceCreate, wire) }
  })
  const names = wanted.map(({ create }) => create.instance_name)
  const twice = names.filter((name, index) => names.indexOf(name) !== index)
  if (twice.length > 0) throw refusal(`There are duplicate instance names: ${[...new Set(twice)].join(', ')}`)
  if (wanted.some(({ create }) => create.iallocator !== undefined))
    throw refusal('The allocator is given for all instances together, not for one of them')
  return wanted
}

/** Whether the instances name their nodes: all of them or none. */
function namesNodes(wanted: readonly { create: CreateOp }[]): boolean {
  const named = wanted.filter(({ create }) => create.pnode !== undefined).length
  if (named !== 0 && named !== wanted.length) throw refusal('Some instances name their node, others do not')
  return named > 0
}

/** Templates whose storage is on the nodes themselves. */
const COUNTED: readonly DiskTemplate[] = ['drbd', 'plain', 'file']

async function placeAll(ctx: UnitContext, op: MultiAllocOp): Promise<Placed> {
  const config = await ctx.config.read({})
  const made: Made[] = []
  const failed: string[] = []
  const wanted: WantedInstance[] = []
  for (const one of instancesOf(op)) {
    checkArguments(one.create)
    wanted.push({ ...one, instance: await wantedInstance(ctx, config.cluster, one.create) })
  }
  const allocator = namesNodes(wanted) ? undefined : allocatorFor(config, op.iallocator)
  if (allocator !== undefined && allocator !== BUILTIN_IALLOCATOR) return placeByScript(ctx, allocator, wanted)
  const templates = wanted.map(({ instance }) => instance.template)
  // What was placed before counts as taken, so all are placed in one picture of the cluster; only one storage is in it.
  const placer = await Placer.open(ctx, COUNTED.find((one) => templates.includes(one)) ?? 'diskless')
  for (const { wire, create, instance } of wanted) {
    const name = create.instance_name
    if (create.pnode !== undefined) {
      made.push({ op: wire, name })
      continue
    }
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

function withUuids(op: WireOpCode, uuids: ReadonlyMap<unknown, string>): WireOpCode {
  const [pnode_uuid, snode_uuid] = [uuids.get(op['pnode']), uuids.get(op['snode'])]
  return { ...op, ...(pnode_uuid && { pnode_uuid }), ...(snode_uuid && { snode_uuid }) }
}

/** In the job: each instance with all its parameters, those that were left out too, and with the nodes that it goes to. */
function noteInstances(ctx: UnitContext, op: MultiAllocOp, made: readonly Made[]): void {
  const submitted = new Map(made.map((one) => [one.name, inherit(one.op, ctx.op)]))
  const instances = instancesOf(op).map(({ wire, create }) =>
    shown(create, submitted.get(create.instance_name) ?? wire),
  )
  ctx.note({ instances })
}

function shown(create: CreateOp, wire: WireOpCode): Record<string, unknown> {
  const given: Record<string, unknown> = { ...create, ...givenOsParams(create) }
  const params = Object.fromEntries(Object.keys(OpInstanceCreate.params).map((name) => [name, given[name] ?? null]))
  const { pnode = null, pnode_uuid = null, snode = null, snode_uuid = null } = wire
  const { dry_run = null, debug_level = 0, priority = 0, depends = null, comment = null, reason = [], OP_ID } = wire
  const common = { dry_run, debug_level, priority, depends, comment, reason, OP_ID }
  return { ...params, pnode, pnode_uuid, snode, snode_uuid, ...common }
}

/** All in one question. */
async function placeByScript(ctx: UnitContext, allocator: string, wanted: readonly WantedInstance[]): Promise<Placed> {
  const instances: unknown[] = []
  for (const { create, instance } of wanted) instances.push(allocationOf(await placementFor(ctx, create, instance)))
  const request = { type: 'multi-allocate', instances }
  const placed = placedOf(await askScript(ctx, allocator, { what: 'nodes', request }))
  const made = wanted.flatMap(({ wire, create: { instance_name: name } }) => {
    const [pnode, snode] = placed.get(name) ?? []
    return pnode === undefined ? [] : [{ op: { ...wire, pnode, ...(snode !== undefined && { snode }) }, name }]
  })
  return { made, failed: wanted.map(({ create }) => create.instance_name).filter((name) => !placed.has(name)) }
}
