// Snapshots of an instance's disks, from which an export copies while the instance runs.
import { KEEP_UNTIL_UNKNOWN } from '../../model/leftovers'
import type { Disk } from '../../model/config'
import { diskUuid } from '../../model/ids'
import { factsOf, isFileBased, isOnLvm } from '../../model/templates'
import { incompleteOnPrimary } from '../instance/disks/activation'
import { diskDictOf, type InstanceView } from '../instance/view'
import type { UnitContext } from '../unit-context'

/** Whether their storage has snapshots. */
export const canSnapshot = ({ disks }: InstanceView): boolean =>
  disks.length > 0 && disks.every(({ dev_type }) => factsOf(dev_type).snapshots !== undefined)

/** Only a trial can tell: not all file systems let files share blocks. */
export const isUncertain = ({ disks }: InstanceView): boolean => disks.some(({ dev_type }) => isFileBased(dev_type))

type SnapshotLog = Pick<UnitContext['log'], 'say' | 'warning'>

/** For a trial: its caller reports the failure differently. */
export const QUIET: SnapshotLog = { say: () => undefined, warning: () => undefined }

/** A mirror's snapshot is one of its volume on the primary node, which must have all data. */
export async function areComplete(ctx: UnitContext, view: InstanceView, log: SnapshotLog = ctx.log): Promise<boolean> {
  const incomplete = await incompleteOnPrimary(ctx, view)
  for (const disk of incomplete)
    log.warning(
      `A snapshot of disk/${view.disks.indexOf(disk)} on node ${view.primary.name} would lack data, because its copy there is not complete; ` +
        `"gnt-instance activate-disks --wait-for-sync ${view.instance.name}" waits until it is`,
    )
  return incomplete.length === 0
}

/** A snapshot for each disk, as disks; undefined, with none left, if one could not be made. */
export async function takeSnapshots(
  ctx: UnitContext,
  view: InstanceView,
  log: SnapshotLog = ctx.log,
): Promise<Disk[] | undefined> {
  const { primary } = view
  const snapshots: Disk[] = []
  if (!(await areComplete(ctx, view, log))) return undefined
  for (const [index, disk] of view.disks.entries()) {
    log.say(`Creating a snapshot of disk/${index} on node ${primary.name}`)
    const result = await ctx.nodes.attempt(primary, 'blockdev_snapshot', [diskDictOf(view, disk), null, null])
    if (result.ok && Array.isArray(result.payload)) snapshots.push(snapshotOf(ctx, disk, result.payload))
    else {
      const why = result.ok ? `invalid result '${String(result.payload)}'` : result.error
      log.warning(`Could not snapshot disk/${index} on node ${primary.name}: ${why}`)
      await removeSnapshots(ctx, view, snapshots)
      return undefined
    }
  }
  return snapshots
}

/** A mirror's snapshot is one of its data volume. */
const snapshotOf = (ctx: UnitContext, disk: Disk, logical_id: Disk['logical_id']): Disk => ({
  ...{ logical_id, children: [], nodes: disk.nodes, iv_name: disk.iv_name, size: disk.size, mode: 'ro' },
  ...(isOnLvm(disk.dev_type) ? { dev_type: 'plain', params: {} } : { dev_type: disk.dev_type, params: disk.params }),
  ...{ uuid: diskUuid(ctx.env.random.uuid()), serial_no: 1, ctime: 0, mtime: 0 },
})

export async function removeSnapshots(ctx: UnitContext, view: InstanceView, snapshots: readonly Disk[]): Promise<void> {
  const { primary } = view
  for (const [index, snapshot] of snapshots.entries()) {
    ctx.log.say(`Removing snapshot of disk/${index} on node ${primary.name}`)
    const result = await ctx.nodes.attempt(primary, 'blockdev_remove', [diskDictOf(view, snapshot)])
    if (!result.ok)
      ctx.log.warning(
        `Could not remove snapshot ${snapshot.logical_id.join('/')} of disk/${index} from node ${primary.name}: ${result.error}`,
        `it takes more and more room, and slows the disk down; ${KEEP_UNTIL_UNKNOWN}`,
      )
  }
}
