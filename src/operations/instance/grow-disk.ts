// OP_INSTANCE_GROW_DISK: enlarges one disk, and tells a running guest.
import { change } from '../../config/changes'
import { fillBeParams, fillNdParams } from '../../config/filled'
import { DTS_GROWABLE } from '../../model/constants/disks'
import type { Disk } from '../../model/config'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { OpInstanceGrowDisk } from '../../opcodes/instance'
import { logicalUnit } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { checkNodeOnline, hvParamsOf, runtimeOf } from './checks'
import { sizeText, wipeFrom } from './disk-files'
import { waitForSync } from './disk-sync'
import { assembleDisks, nodesOf, shutdownDisks } from './disks'
import { instanceHookEnv } from './hook-env'
import { policyViolations } from './ipolicy'
import { groupPolicy } from './set-disks'
import {
  allNodes,
  dictOf,
  diskDictOf,
  hookNodes,
  locksOfInstance,
  readInstance,
  reread,
  type InstanceView,
} from './view'

interface Growth {
  readonly view: InstanceView
  readonly disk: Disk
  readonly by_mib: number
  readonly to_mib: number
}

export const instanceGrowDisk = logicalUnit(OpInstanceGrowDisk, {
  ...locksOfInstance(['node', 'node-res']),
  async check(ctx, op): Promise<Growth> {
    const view = await readInstance(ctx, op)
    for (const node of allNodes(view)) checkNodeOnline(node)
    const disk = view.disks[op.disk]
    if (disk === undefined)
      throw new OpPrereqError(
        `Invalid disk index: ${op.disk}; the instance has ${view.disks.length} disks`,
        ECODE.INVAL,
      )
    if (!DTS_GROWABLE.includes(disk.dev_type))
      throw new OpPrereqError("Instance's disk layout does not support growing", ECODE.INVAL)
    const to_mib = op.absolute ? op.amount : disk.size + op.amount
    if (to_mib < disk.size)
      throw new OpPrereqError(
        `Requested size (${sizeText(to_mib)}) is smaller than current disk size (${sizeText(disk.size)})`,
        ECODE.STATE,
      )
    if (!op.ignore_ipolicy) checkPolicy(view, op.disk, to_mib)
    return { view, disk, by_mib: to_mib - disk.size, to_mib }
  },
  hooks: {
    path: 'disk-grow',
    type: 'INSTANCE',
    env: (ctx, op, { view }) =>
      instanceHookEnv(ctx, view.instance.uuid, { DISK: op.disk, AMOUNT: op.amount, ABSOLUTE: op.absolute }),
    nodes: (_ctx, _op, { view }) => hookNodes(view),
  },
  async run(ctx, op, growth) {
    const { view, disk, by_mib, to_mib } = growth
    const { instance } = view
    const wasActive = instance.disks_active
    const { ok, view: active } = await assembleDisks(ctx, view, { disks: [disk] })
    if (!ok) throw new OpExecError('Cannot activate block device to grow')
    ctx.log.say(`Growing disk ${op.disk} of instance '${instance.name}' by ${sizeText(by_mib)} to ${sizeText(to_mib)}`)
    if (by_mib > 0) await grow(ctx, active, growth)
    await tellGuest(ctx, await reread(ctx, view), op.disk)
    if (op.wait_for_sync && !(await waitForSync(ctx, active, { disks: [disk] })))
      ctx.log.warning('Disk syncing has not returned a good status; check the instance')
    if (!wasActive) await shutdownDisks(ctx, await reread(ctx, view))
    return null
  },
})

function checkPolicy(view: InstanceView, index: number, to_mib: number): void {
  const { config, instance, primary } = view
  const be = fillBeParams(config.cluster, instance.beparams)
  const sizes = view.disks.map((disk, i) => (i === index ? to_mib : disk.size))
  const violations = policyViolations(groupPolicy(view), {
    memory_mib: be.maxmem,
    vcpus: be.vcpus,
    diskSizes_mib: sizes,
    nics: instance.nics.length,
    spindles: be.spindle_use,
    template: view.disks[index]?.dev_type ?? '',
  })
  if (violations.length === 0) return
  const group = config.nodegroups[primary.group]
  throw new OpPrereqError(
    `Instance allocation to group ${primary.group} (${group?.name}) violates policy: ${violations.join(', ')}`,
    ECODE.INVAL,
  )
}

/** First asked whether it could, then done: behind the disk on every node, and on top of it on the primary. */
async function grow(ctx: UnitContext, view: InstanceView, { disk, by_mib, to_mib }: Growth): Promise<void> {
  const { primary } = view
  const dict = diskDictOf(view, disk)
  const exclusive = fillNdParams(view.config, primary).exclusive_storage
  for (const dryRun of [true, false])
    for (const node of nodesOf(view, disk)) {
      const what = dryRun
        ? `Dry-run grow request failed to node ${node.name}`
        : `Grow request failed to node ${node.name}`
      await ctx.nodes.call(node, what, 'blockdev_grow', [dict, by_mib, dryRun, true, exclusive])
    }
  const top = `Grow request failed to node ${primary.name}`
  await ctx.nodes.call(primary, top, 'blockdev_grow', [dict, by_mib, false, false, exclusive])
  await ctx.config.change([change('patchDisk', disk.uuid, { size: to_mib })])
  if (view.config.cluster.prealloc_wipe_disks) await wipeFrom(ctx, view, { ...disk, size: to_mib }, disk.size)
}

async function tellGuest(ctx: UnitContext, view: InstanceView, index: number): Promise<void> {
  const { instance, primary } = view
  const disk = view.disks[index]
  const args = [instance.name, instance.hypervisor, hvParamsOf(view)] as const
  const live = await ctx.nodes.attempt(primary, 'instance_info', [...args])
  if (disk === undefined || !live.ok || runtimeOf(live.payload) === undefined) return
  const result = await ctx.nodes.attempt(primary, 'resize_disk', [dictOf(view), diskDictOf(view, disk), disk.size])
  if (!result.ok) ctx.log.warning(`The running guest sees the new size after its next start: ${result.error}`)
}
