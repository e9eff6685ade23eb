// Waits until mirrored disks are in sync.
import { durationText } from '../../../lib/text/duration-text'
import type { Disk } from '../../../model/config'
import {
  DISK_SYNC_DEGRADED_CHECKS,
  DISK_SYNC_FEEDBACK_MAX_S,
  DISK_SYNC_POLL_MAX_S,
  DISK_SYNC_RETRIES,
} from '../../../model/limits/operations'
import { RemoteError } from '../../../model/errors'
import type { BlockDeviceStatus } from '../../../rpc/node/dicts'
import type { UnitContext } from '../../unit-context'
import { diskDictOf, type InstanceView } from '../view'

/** Returns whether all disks ended complete. `oneshot` checks only once, for callers that do not want to wait. */
export async function waitForSync(
  ctx: UnitContext,
  view: InstanceView,
  options: { disks?: readonly Disk[]; oneshot?: boolean } = {},
): Promise<boolean> {
  const disks = options.disks ?? view.disks
  if (disks.length === 0) return true
  const name = view.instance.name
  if (!options.oneshot) ctx.log.info(`Waiting for instance ${name} to sync disks`)
  let degradedChecks = DISK_SYNC_DEGRADED_CHECKS
  let degraded = false
  let untilTold_s = 0
  for (;;) {
    const found = await statusOf(ctx, view, disks)
    const syncing = found.filter((status) => status.sync_percent !== undefined)
    degraded = found.some((status) => status.is_degraded && status.sync_percent === undefined)
    const longest_s = Math.max(1, ...syncing.map((status) => status.estimated_time ?? 0))
    if (untilTold_s <= 0) {
      disks.forEach((disk, index) => report(ctx, disk, found[index]))
      untilTold_s = Math.min(DISK_SYNC_FEEDBACK_MAX_S, longest_s)
    }
    // A disk may look degraded for a moment after its sync.
    if (syncing.length === 0 && degraded && degradedChecks-- > 0) {
      await ctx.env.clock.sleep(1000)
      continue
    }
    if (syncing.length === 0 || options.oneshot) break
    // The estimate may be much too long.
    const pause_s = Math.min(DISK_SYNC_POLL_MAX_S, longest_s)
    untilTold_s -= pause_s
    await ctx.env.clock.sleep(pause_s * 1000)
  }
  if (!options.oneshot) ctx.log.info(`Instance ${name}'s disks are in sync`)
  return !degraded
}

async function statusOf(
  ctx: UnitContext,
  view: InstanceView,
  disks: readonly Disk[],
): Promise<readonly BlockDeviceStatus[]> {
  const dicts = disks.map((disk) => diskDictOf(view, disk))
  for (let attempt = 0; ; attempt++) {
    const result = await ctx.nodes.attempt(view.primary, 'blockdev_getmirrorstatus', [dicts])
    if (result.ok) return result.payload
    ctx.log.warning(`Can't get any data from node ${view.primary.name}: ${result.error}`)
    if (attempt >= DISK_SYNC_RETRIES)
      throw new RemoteError(`Can't contact node ${view.primary.name} for mirror data, aborting.`)
    await ctx.env.clock.sleep(DISK_SYNC_FEEDBACK_MAX_S * 100)
  }
}

function report(ctx: UnitContext, disk: Disk, status: BlockDeviceStatus | undefined): void {
  if (status?.sync_percent === undefined) return
  const left =
    status.estimated_time === undefined
      ? 'no time estimate'
      : `${durationText(status.estimated_time)} remaining (estimated)`
  ctx.log.info(`- device ${disk.iv_name}: ${status.sync_percent.toFixed(2).padStart(5)}% done, ${left}`)
}
