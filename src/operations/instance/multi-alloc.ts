// OP_INSTANCE_MULTI_ALLOC: places several new instances, one after the other, and submits a job that makes each.
import type { ConfigData } from '../../model/config'
import { ECODE, OpPrereqError } from '../../model/errors'
import { OpInstanceCreate, OpInstanceMultiAlloc } from '../../opcodes/instance'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { all, fill, logicalUnit, ResultWithJobs, shared, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { placementFor } from './create'
import { checkArguments, wantedInstance, type CreateOp } from './create-plan'
import { allocatorFor, place } from './placement'

type MultiAllocOp = Op<typeof OpInstanceMultiAlloc>

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
  async run(_ctx, _op, { made, failed }) {
    const allocatable = made.map(({ name }) => name)
    return Promise.resolve(
      new ResultWithJobs(
        made.map(({ op }) => [op]),
        { allocatable, failed },
      ),
    )
  },
})

const refusal = (text: string) => new OpPrereqError(text, ECODE.INVAL)

function instancesOf(op: MultiAllocOp): { wire: WireOpCode; create: CreateOp }[] {
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

async function placeAll(ctx: UnitContext, op: MultiAllocOp): Promise<{ made: Made[]; failed: string[] }> {
  const config = await ctx.config.read({})
  const wanted = instancesOf(op)
  const promised = new Map<string, number>()
  const made: Made[] = []
  const failed: string[] = []
  for (const { wire, create } of wanted) {
    const pnode = create.pnode ?? (await placeOne(ctx, config, create, promised))
    if (pnode === undefined) failed.push(create.instance_name)
    else made.push({ op: { ...wire, pnode }, name: create.instance_name })
  }
  return { made, failed }
}

/** The memory of those that were placed before counts as taken. */
async function placeOne(
  ctx: UnitContext,
  config: ConfigData,
  create: CreateOp,
  promised: Map<string, number>,
): Promise<string | undefined> {
  checkArguments(create)
  const wanted = wantedInstance(ctx, config.cluster, create)
  const node = await place(ctx, { ...(await placementFor(ctx, create, wanted)), promised_mib: promised })
  if (typeof node === 'string') return undefined
  promised.set(node.uuid, (promised.get(node.uuid) ?? 0) + wanted.be.minmem)
  return node.name
}
