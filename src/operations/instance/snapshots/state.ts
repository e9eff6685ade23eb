// The state of snapshots in their storage. A snapshot on LVM that has run full is invalid: its data is lost.
import type { Disk } from '../../../model/config'
import { ECODE, OpPrereqError } from '../../../model/errors'
import {
  type DiskSnapshot,
  isSeenByNodes,
  snapshotDisk,
  type SnapshotStatus,
  snapshotStatus,
} from '../../../model/snapshots'
import type { BlockDeviceStatus } from '../../../rpc/node/dicts'
import type { UnitContext } from '../../unit-context'
import type { NamedSnapshot } from '../snapshot'
import { diskDictOf, type InstanceView } from '../view'
import { nodeWithSnapshot } from './notes'

/** As its node finds it now. */
export const statusOf = async (
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  snapshot: DiskSnapshot,
): Promise<SnapshotStatus> => snapshotStatus(snapshot, await found(ctx, view, disk, snapshot))

/** Refuses snapshots whose data is lost, before anything is noted or written. */
export async function refuseLostSnapshots(
  ctx: UnitContext,
  view: InstanceView,
  named: readonly NamedSnapshot[],
): Promise<void> {
  for (const { index, disk, snapshot } of named) {
    const status = await statusOf(ctx, view, disk, snapshot)
    if (status !== 'invalid' && status !== 'missing') continue
    const remove = `gnt-instance remove-snapshot --disk ${index}:snapshot_name=${snapshot.name} ${view.instance.name}`
    const why = LOST[status]
    throw new OpPrereqError(
      `Disk ${index} of instance ${view.instance.name} cannot be rolled back to snapshot '${snapshot.name}': ${why}; "${remove}" removes it`,
      ECODE.STATE,
    )
  }
}

const LOST = {
  invalid: 'it is invalid, as more has changed since than it has room for, and its data is lost',
  missing: 'it is missing in its storage',
} as const

/** Null if it is missing; undefined if its node does not tell. */
async function found(
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  snapshot: DiskSnapshot,
): Promise<BlockDeviceStatus | null | undefined> {
  if (!isSeenByNodes(snapshot)) return undefined
  const node = await nodeWithSnapshot(ctx, view, snapshot)
  if (node === undefined) return null
  const answer = await ctx.nodes.attempt(node, 'blockdev_find', [diskDictOf(view, snapshotDisk(disk, snapshot))])
  return answer.ok ? answer.payload : undefined
}
