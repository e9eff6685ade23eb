// OP_INSTANCE_GROW_DISK: enlarges a disk, and tells a running guest.
import { change } from '../../config/changes'
import { fillNdParams } from '../../config/filled'
import type { Disk } from '../../model/config'
import { ECODE, OpExecError, OpPrereqError } from '../../model/errors'
import { OpInstanceGrowDisk } from '../../opcodes/instance'
import { logicalUnit, type Op } from '../logical-unit'
import type { UnitContext } from '../unit-context'
import { checkMirrorsOnline, checkNodeOnline, hvParamsOf, runtimeOf, usesDisks } from './checks'
import { sizeText, sizedToWipe, wipeFrom } from './disks/files'
import { realSizes } from './disks/real-sizes'
import { waitForSync } from './disks/sync'
import { checkFileSpace } from './disks/file-space'
import { checkVolumeSpace, type VolumeNeeds, volumeNeeds } from './disks/volume-space'
import { assembleDisks, nodesOf, shutdownDisks } from './disks/activation'
import { instanceHookEnv } from './hook-env'
import { policyViolations } from './placement/ipolicy'
import { groupPolicy } from './disks/changes'
import { refuseSnapshots } from './snapshots/notes'
import { dictOf, diskDictOf, hookNodes, locksOfInstance, readInstance, reread, type InstanceView } from './view'
import { factsOf } from '../../model/templates'

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
    checkNodeOnline(view.primary)
    checkMirrorsOnline(view)
    const disk = view.disks[op.disk]
    if (disk === undefined)
      throw new OpPrereqError(
        `Invalid disk index: ${op.disk} (instance has ${view.disks.length === 0 ? 'no disks' : `disks 0 to ${view.disks.length - 1}`})`,
        ECODE.INVAL,
      )
    if (factsOf(disk.dev_type).growable !== true)
      throw new OpPrereqError(`Instance's disk layout ${disk.dev_type} does not support growing`, ECODE.INVAL)
    if (factsOf(disk.dev_type).snapshots === 'beside')
      await refuseSnapshots(ctx, view, [disk], 'LVM does not let it grow')
    const to_mib = op.absolute ? op.amount : disk.size + op.amount
    if (to_mib < disk.size)
      throw new OpPrereqError(
        `Requested size (${sizeText(to_mib)}) is smaller than current disk size (${sizeText(disk.size)})`,
        ECODE.STATE,
      )
    checkPolicy(ctx, op, view, to_mib)
    const place = { cluster: view.config.cluster, node: view.primary, template: disk.dev_type }
    await checkFileSpace(ctx, place, to_mib - disk.size, op.ignore_ipolicy)
    await checkVolumeSpace(ctx, view.config, nodesOf(view, disk), growthOf(disk, to_mib - disk.size))
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
    const wasActive = await usesDisks(ctx, view)
    const { ok, view: active } = await assembleDisks(ctx, view, { disks: [disk] })
    if (!ok) throw new OpExecError('Cannot activate block device to grow')
    ctx.log.say(`Growing disk ${op.disk} of instance '${instance.name}' by ${sizeText(by_mib)} to ${sizeText(to_mib)}`)
    if (by_mib > 0) await grow(ctx, active, growth)
    if (op.wait_for_sync && !(await waitForSync(ctx, active, { disks: [disk] })))
      ctx.log.warning('Disk syncing has not returned a good status; check the instance')
    if (!wasActive && op.wait_for_sync) await shutdownDisks(ctx, await reread(ctx, view), { disks: [disk] })
    else if (!wasActive)
      ctx.log.warning(
        'Not shutting down the disk even if the instance is not supposed to be running because no wait for sync mode was requested',
      )
    await tellGuest(ctx, await reread(ctx, view), op.disk)
    return null
  },
})

/** The room that the data volume needs. */
const growthOf = (disk: Disk, by_mib: number): VolumeNeeds => {
  const [vg] = volumeNeeds(disk.children.slice(0, 1).concat(disk.children.length === 0 ? [disk] : [])).keys()
  return new Map(vg === undefined || by_mib <= 0 ? [] : [[vg, by_mib]])
}

/** The policy is checked only for the grown size. */
function checkPolicy(ctx: UnitContext, op: Op<typeof OpInstanceGrowDisk>, view: InstanceView, to_mib: number): void {
  const violations = policyViolations(groupPolicy(view), {
    diskSizes_mib: view.disks.map((disk, index) => (index === op.disk ? to_mib : disk.size)),
    template: view.disks[op.disk]?.dev_type ?? '',
  })
  if (violations.length === 0) return
  const text = `Growing disk ${op.disk} violates policy: ${violations.join(', ')}`
  if (!op.ignore_ipolicy) throw new OpPrereqError(text, ECODE.INVAL)
  ctx.log.warning(text)
}

/** First a dry run, then for real: the storage on every node, then the device on the primary. */
async function grow(ctx: UnitContext, view: InstanceView, { disk, by_mib }: Growth): Promise<void> {
  const { primary } = view
  const dict = diskDictOf(view, disk)
  const { prealloc_wipe_disks: wipes } = view.config.cluster
  // A guest uses a rounded-up volume to its end.
  const used_bytes = wipes ? await usedBytes(ctx, view, disk) : 0
  const exclusive = fillNdParams(view.config, primary).exclusive_storage
  const enlarged: string[] = []
  try {
    for (const dryRun of [true, false])
      for (const node of nodesOf(view, disk)) {
        const what = dryRun
          ? `Dry-run grow request failed to node ${node.name}`
          : `Grow request failed to node ${node.name}`
        await ctx.nodes.call(node, what, 'blockdev_grow', [dict, by_mib, dryRun, true, exclusive])
        if (!dryRun) enlarged.push(node.name)
      }
    const top = `Grow request failed to node ${primary.name}`
    await ctx.nodes.call(primary, top, 'blockdev_grow', [dict, by_mib, false, false, exclusive])
  } catch (error) {
    if (enlarged.length > 0)
      ctx.log.warning(
        `The storage of ${disk.iv_name} stays larger by ${sizeText(by_mib)} on ${enlarged.join(', ')}, because it does not shrink`,
        'grow the disk again when the reason is gone; "gnt-cluster repair-disk-sizes" records a size that a disk has already',
      )
    throw error
  }
  await ctx.config.change([change('patchDisk', disk.uuid, grown(disk, by_mib))])
  if (!wipes) return
  const larger = { ...disk, ...grown(disk, by_mib) }
  const [bytes] = await realSizes(ctx, view, [larger])
  const used_mib = Math.max(disk.size, Math.ceil(used_bytes / BYTES_PER_MIB))
  await wipeFrom(ctx, view, sizedToWipe(larger, bytes), used_mib)
}

async function usedBytes(ctx: UnitContext, view: InstanceView, disk: Disk): Promise<number> {
  const [bytes] = await realSizes(ctx, view, [disk])
  if (bytes !== undefined) return bytes
  throw new OpExecError(
    `Node ${view.primary.name} does not tell how large ${disk.iv_name} is, so wiping its new part could delete data; ` +
      `see with "gnt-instance info ${view.instance.name}" what is wrong with it`,
  )
}

/** A mirror's data is on its first part. */
const grown = ({ size, children }: Disk, by_mib: number): Pick<Disk, 'size'> & Partial<Pick<Disk, 'children'>> => ({
  size: size + by_mib,
  ...(children.length > 0 && {
    children: children.map((child, index) => (index === 0 ? { ...child, size: child.size + by_mib } : child)),
  }),
})

const BYTES_PER_MIB = 1024 * 1024

async function tellGuest(ctx: UnitContext, view: InstanceView, index: number): Promise<void> {
  const { instance, primary } = view
  const disk = view.disks[index]
  const args = [instance.name, instance.hypervisor, hvParamsOf(view)] as const
  const live = await ctx.nodes.attempt(primary, 'instance_info', [...args])
  if (disk === undefined || !live.ok || runtimeOf(live.payload) === undefined) return
  const result = await ctx.nodes.attempt(primary, 'resize_disk', [
    dictOf(view),
    diskDictOf(view, disk),
    disk.size * BYTES_PER_MIB,
  ])
  if (!result.ok) ctx.log.warning(`Disk resize in hypervisor failed: ${result.error}`)
}
