// OP_INSTANCE_REPAIR: does what an administrator would do for an instance with degraded disks or a lost node. It
// assembles and connects disks itself. Work that needs other nodes or new volumes is submitted as a job. When all is
// well, it does nothing.
import { LOCAL_DISK_STATUS } from '../../model/constants/disks'
import { DEFAULT_SHORTCUT } from '../../model/allocators'
import { OpExecError } from '../../model/errors'
import { OpInstanceFailover, OpInstanceReplaceDisks } from '../../opcodes/instance'
import { OpInstanceRepair } from '../../opcodes/repair'
import type { WireOpCode } from '../../rpc/luxi/calls'
import { logicalUnit, ResultWithJobs, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { assembleDisks } from './disks/activation'
import { type Diagnosis, diagnose, diskStates, mirrorsOf } from './repair/diagnosis'
import { diskDictOf, locksOfInstance, readInstance, type InstanceView } from './view'
import { isMirroredInside } from '../../model/templates'

type RepairOp = Op<typeof OpInstanceRepair>

const REPLACE = { OP_ID: OpInstanceReplaceDisks.id } as const
const FAILOVER = { OP_ID: OpInstanceFailover.id } as const

/** The built-in allocator, used if the cluster has no default one. */
const BUILT_IN = 'hail'

export const instanceRepair = logicalUnit(OpInstanceRepair, {
  ...locksOfInstance(['node', 'node-res']),
  async check(ctx, op) {
    const view = await readInstance(ctx, op)
    const diagnosis = await diagnose(ctx, view, op.failover)
    tell(ctx, view, diagnosis)
    return { view, diagnosis }
  },
  async run(ctx, op, { view, diagnosis }) {
    const { found, left, activate, todo } = diagnosis
    const more = activate ? await reconnect(ctx, view) : undefined
    const jobs: WireOpCode[] =
      todo === 'failover'
        ? await failover(ctx, op, view)
        : todo === 'new secondary'
          ? [await newSecondary(ctx, op, view)]
          : more === 'new volumes'
            ? [newVolumes(view)]
            : []
    for (const { OP_ID, mode } of jobs)
      ctx.log.say(`Submitting ${OP_ID}${typeof mode === 'string' ? ` (${mode})` : ''}`)
    return new ResultWithJobs(jobs.length === 0 ? [] : [jobs], { found, left })
  },
})

/** Runs in the check, so that a dry run says what would be done. */
function tell(ctx: UnitContext, { instance }: InstanceView, { found, left, activate, todo }: Diagnosis): void {
  if (found.length === 0 && left.length === 0) ctx.log.say(`Nothing is wrong with instance ${instance.name}`)
  for (const text of found) ctx.log.say(`Instance ${instance.name}: ${text}`)
  for (const text of left) ctx.log.warning(`Instance ${instance.name}: ${text}`)
  if (activate) ctx.log.say('To do: assemble and connect its disks, and replace volumes that have lost their data')
  if (todo === 'failover') ctx.log.say('To do: fail it over, and give its disks another secondary node')
  if (todo === 'new secondary') ctx.log.say('To do: give its disks another secondary node')
}

/** Throws if the two sides of a mirror refuse each other: nothing here decides whose data is lost. */
async function reconnect(ctx: UnitContext, view: InstanceView): Promise<'new volumes' | undefined> {
  const { instance, secondaries, primary } = view
  ctx.log.say('Assembling the disks where they are not in use, and connecting them')
  // Disks are given one by one, which leaves the configuration's state of all of them unchanged, even if one cannot be
  // assembled.
  const { ok } = await assembleDisks(ctx, view, {
    ...(instance.disks_active && { disks: view.disks }),
    ignoreSecondaries: true,
  })
  if (!ok)
    throw new OpExecError(
      `The disks of instance ${instance.name} cannot be assembled on its primary node ${primary.name}, as the warnings say; one whose ` +
        `data is lost is recreated, empty, with "gnt-instance recreate-disks ${instance.name}"`,
    )
  const mirrors = mirrorsOf(view)
  if (mirrors.length === 0 || secondaries.some(({ offline }) => offline)) return undefined
  const dicts = mirrors.map((disk) => diskDictOf(view, disk))
  const waited = await ctx.nodes.many([primary, ...secondaries], 'drbd_wait_sync', [dicts])
  // Only one of two sides that refuse each other may know that they do.
  const failures = [primary, ...secondaries].flatMap(({ uuid, name }) => {
    const result = waited.get(uuid)
    return result?.ok === true ? [] : [`on node ${name}: ${result?.error ?? 'no answer'}`]
  })
  if (failures.length > 0)
    throw new OpExecError(`The disks of instance ${instance.name} could not be connected ${failures.join('; ')}`)
  return faultyOn(ctx, view)
}

/** Both sides are connected, so a side without data has lost it. */
async function faultyOn(ctx: UnitContext, view: InstanceView): Promise<'new volumes' | undefined> {
  const empty = (await diskStates(ctx, view)).filter(
    ({ states }) =>
      typeof states !== 'string' && states.some(([ok, one]) => ok && one.ldisk_status === LOCAL_DISK_STATUS.faulty),
  )
  if (empty.length > 1)
    throw new OpExecError(
      `Both nodes of instance ${view.instance.name} have disks without data: replace those of one node with "gnt-instance ` +
        `replace-disks", naming only the disks that the other node has`,
    )
  for (const { node } of empty) ctx.log.say(`Node ${node.name} has disks without data`)
  return empty.length === 0 ? undefined : 'new volumes'
}

const newVolumes = ({ instance }: InstanceView): WireOpCode => ({
  ...REPLACE,
  instance_name: instance.name,
  mode: 'replace_auto',
})

async function newSecondary(
  ctx: UnitContext,
  { iallocator, ignore_ipolicy }: RepairOp,
  view: InstanceView,
): Promise<WireOpCode> {
  return {
    ...REPLACE,
    ...{ instance_name: view.instance.name, mode: 'replace_new_secondary', ignore_ipolicy },
    iallocator: iallocator ?? (await allocatorFor(ctx, view)),
  }
}

async function failover(ctx: UnitContext, op: RepairOp, view: InstanceView): Promise<WireOpCode[]> {
  const { name: instance_name } = view.instance
  const { iallocator, ignore_ipolicy } = op
  const mirrored = view.disks.some(({ dev_type }) => isMirroredInside(dev_type))
  if (mirrored) return [{ ...FAILOVER, instance_name, ignore_ipolicy }, await newSecondary(ctx, op, view)]
  return [
    { ...FAILOVER, ...{ instance_name, ignore_ipolicy }, iallocator: iallocator ?? (await allocatorFor(ctx, view)) },
  ]
}

async function allocatorFor(ctx: UnitContext, { config }: InstanceView): Promise<string> {
  const own = (await ctx.config.defaultAllocators())['relocate']
  return own !== undefined || config.cluster.default_iallocator !== '' ? DEFAULT_SHORTCUT : BUILT_IN
}
