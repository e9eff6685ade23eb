// The notes of snapshots of an instance's disks. A snapshot is noted before it is made, so that no unknown snapshot can be left on a node.
import { change } from '../../../config/changes'
import type { Disk, Node } from '../../../model/config'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { type DiskSnapshot, SNAPSHOTS_SECTION, snapshotDisk, snapshotsOf } from '../../../model/snapshots'
import { nodeUuid } from '../../../model/ids'
import type { Change, UnitContext } from '../../unit-context'
import { diskDictOf, type InstanceView } from '../view'

/** Snapshots by the uuids of their disks. */
export async function notedSnapshots(
  ctx: UnitContext,
  disks: readonly Disk[],
): Promise<ReadonlyMap<string, readonly DiskSnapshot[]>> {
  const section = await ctx.config.section(SNAPSHOTS_SECTION)
  return new Map(disks.map(({ uuid }) => [uuid, snapshotsOf(section, uuid)]))
}

export const noteSnapshots = (disk: Disk, snapshots: readonly DiskSnapshot[]): Change =>
  change('setGantry', SNAPSHOTS_SECTION, disk.uuid, snapshots.length === 0 ? null : snapshots)

/** Removes one note, and keeps all others. */
export async function forgetSnapshot(ctx: UnitContext, disk: Disk, name: string): Promise<void> {
  const noted = (await notedSnapshots(ctx, [disk])).get(disk.uuid) ?? []
  await ctx.config.change([
    noteSnapshots(
      disk,
      noted.filter((one) => one.name !== name),
    ),
  ])
}

/** Returns why the snapshot was not deleted, or undefined if it is gone. A snapshot on a node that has left the cluster counts as gone. */
export async function deleteSnapshot(
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  snapshot: DiskSnapshot,
): Promise<string | undefined> {
  const node = await nodeWithSnapshot(ctx, view, snapshot)
  if (node === undefined) return undefined
  const dict = diskDictOf(view, snapshotDisk(disk, snapshot))
  const result = await ctx.nodes.attempt(node, 'blockdev_remove', [dict])
  return result.ok ? undefined : `node ${node.name}: ${result.error}`
}

/** Undefined if the node has left the cluster. */
export async function nodeWithSnapshot(
  ctx: UnitContext,
  { primary }: InstanceView,
  { node }: DiskSnapshot,
): Promise<Node | undefined> {
  if (node === null || node === primary.uuid) return primary
  const { nodes } = await ctx.config.read({ nodes: 'all' })
  return nodes[nodeUuid(node)]
}

/** Refuses to use disks that are half rolled back: to start from them, or to copy them. */
export async function refuseHalfRestored(
  ctx: UnitContext,
  { instance, disks }: InstanceView,
  used: { has(disk: string): boolean } = new Set(disks.map(({ uuid }) => uuid)),
): Promise<void> {
  const noted = await notedSnapshots(ctx, disks)
  for (const [index, { uuid }] of disks.entries()) {
    if (!used.has(uuid)) continue
    const half = noted.get(uuid)?.find(({ restoring }) => restoring === true)
    if (half === undefined) continue
    const option = `--disk ${index}:snapshot_name=${half.name} ${instance.name}`
    throw new OpPrereqError(
      `Disk ${index} of instance ${instance.name} is rolled back to snapshot '${half.name}' only in part; ` +
        `"gnt-instance rollback-snapshot ${option}" does the rest, and "gnt-instance remove-snapshot ${option}" keeps the disk as it is`,
      ECODE.STATE,
    )
  }
}

/** Refuses actions that would lose snapshots, or that snapshots prevent. `on` names the only node that matters. */
export async function refuseSnapshots(
  ctx: UnitContext,
  { instance, disks: all }: InstanceView,
  disks: readonly Disk[],
  what: string,
  on?: string,
): Promise<void> {
  const noted = await notedSnapshots(ctx, disks)
  for (const disk of disks) {
    const found = noted.get(disk.uuid)?.filter(({ node }) => on === undefined || node === on) ?? []
    if (found.length === 0) continue
    const index = all.findIndex(({ uuid }) => uuid === disk.uuid)
    const names = found.map(({ name }) => name)
    const [first = ''] = names
    throw new OpPrereqError(
      `Disk ${index} of instance ${instance.name} has snapshots (${names.join(', ')}), so ${what}; delete them first, as with ` +
        `"gnt-instance remove-snapshot --disk ${index}:snapshot_name=${first} ${instance.name}"`,
      ECODE.STATE,
    )
  }
}

/** Call it before the disks are deleted. If a snapshot may be left, warns with its name and returns false. */
export async function deleteAllSnapshots(ctx: UnitContext, view: InstanceView): Promise<boolean> {
  const noted = await notedSnapshots(ctx, view.disks)
  let ok = true
  for (const [index, disk] of view.disks.entries())
    for (const snapshot of noted.get(disk.uuid) ?? []) {
      ctx.log.say(`Removing snapshot '${snapshot.name}' of disk/${index}`)
      const why = await deleteSnapshot(ctx, view, disk, snapshot)
      if (why === undefined) continue
      ctx.log.warning(`Could not remove snapshot ${snapshot.logical_id.join('/')} of disk/${index} on ${why}`)
      ok = false
    }
  return ok
}

/** Removes the notes of deleted disks. */
export async function forgetAllSnapshots(ctx: UnitContext, disks: readonly Disk[]): Promise<Change[]> {
  const noted = await notedSnapshots(ctx, disks)
  return disks.filter(({ uuid }) => (noted.get(uuid) ?? []).length > 0).map((disk) => noteSnapshots(disk, []))
}
