// Snapshots of an instance's disks, from which an export copies while the instance runs.
import { KEEP_UNTIL_UNKNOWN } from '../../model/leftovers'
import type { Disk } from '../../model/config'
import { diskUuid } from '../../model/ids'
import { factsOf, isFileBased, isOnLvm } from '../../model/templates'
import { incompleteOnPrimary } from '../instance/disks/activation'
import { diskDictOf, type InstanceView } from '../instance/view'
import type { UnitContext } from '../unit-context'

/** Not all file systems let files share blocks. */
export const isUncertain = ({ disks }: InstanceView): boolean => disks.some(({ dev_type }) => isFileBased(dev_type))

/** Why there are no snapshots. */
export class NoSnapshots extends Error {}

const QUIET = (): void => undefined

/** Makes snapshots and removes them: only a trial tells that there is room, that a file system can do it, and that a provider has a script for it. */
export async function trySnapshots(ctx: UnitContext, view: InstanceView): Promise<void> {
  await removeSnapshots(ctx, view, await takeSnapshots(ctx, view, QUIET), QUIET)
}

/** A snapshot for each disk, as disks. If one cannot be made, none are left, and this throws `NoSnapshots`. */
export async function takeSnapshots(
  ctx: UnitContext,
  view: InstanceView,
  say = (text: string): void => ctx.log.say(text),
): Promise<Disk[]> {
  const { primary } = view
  await checkPossible(ctx, view)
  const snapshots: Disk[] = []
  for (const [index, disk] of view.disks.entries()) {
    say(`Creating a snapshot of disk/${index} on node ${primary.name}`)
    const result = await ctx.nodes.attempt(primary, 'blockdev_snapshot', [diskDictOf(view, disk), null, null])
    if (result.ok && Array.isArray(result.payload)) snapshots.push(snapshotOf(ctx, disk, result.payload))
    else {
      await removeSnapshots(ctx, view, snapshots, say)
      const why = result.ok ? `invalid result '${String(result.payload)}'` : result.error
      throw new NoSnapshots(`Could not snapshot disk/${index} on node ${primary.name}: ${why}`)
    }
  }
  return snapshots
}

/** A mirror's snapshot is one of its volume on the primary node, which must have all data. */
async function checkPossible(ctx: UnitContext, view: InstanceView): Promise<void> {
  for (const [index, { dev_type }] of view.disks.entries())
    if (factsOf(dev_type).snapshots === undefined)
      throw new NoSnapshots(`Disk/${index} cannot have a snapshot, since it is of the template ${dev_type}`)
  const [incomplete] = await incompleteOnPrimary(ctx, view)
  if (incomplete === undefined) return
  throw new NoSnapshots(
    `A snapshot of disk/${view.disks.indexOf(incomplete)} on node ${view.primary.name} would lack data, because its copy there is not complete; ` +
      `"gnt-instance activate-disks --wait-for-sync ${view.instance.name}" waits until it is`,
  )
}

/** A mirror's snapshot is one of its data volume. */
const snapshotOf = (ctx: UnitContext, disk: Disk, logical_id: Disk['logical_id']): Disk => ({
  ...{ logical_id, children: [], nodes: disk.nodes, iv_name: disk.iv_name, size: disk.size, mode: 'ro' },
  ...(isOnLvm(disk.dev_type) ? { dev_type: 'plain', params: {} } : { dev_type: disk.dev_type, params: disk.params }),
  ...{ uuid: diskUuid(ctx.env.random.uuid()), serial_no: 1, ctime: 0, mtime: 0 },
})

export async function removeSnapshots(
  ctx: UnitContext,
  view: InstanceView,
  snapshots: readonly Disk[],
  say = (text: string): void => ctx.log.say(text),
): Promise<void> {
  const { primary } = view
  for (const [index, snapshot] of snapshots.entries()) {
    say(`Removing snapshot of disk/${index} on node ${primary.name}`)
    const result = await ctx.nodes.attempt(primary, 'blockdev_remove', [diskDictOf(view, snapshot)])
    if (!result.ok)
      ctx.log.warning(
        `Could not remove snapshot ${snapshot.logical_id.join('/')} of disk/${index} from node ${primary.name}: ${result.error}`,
        `it takes more and more room, and slows the disk down; ${KEEP_UNTIL_UNKNOWN}`,
      )
  }
}
