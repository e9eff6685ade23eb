// Steps that all replacements share, with their undoing after a failure.
import { KEEP_UNTIL_UNKNOWN } from '../../../model/leftovers'
import type { DiskDict } from '../../../config/rpc-dicts'
import type { Node } from '../../../model/config'
import { OpExecError } from '../../../model/errors'
import type { UnitContext } from '../../unit-context'
import { isConsistent } from '../disks/activation'
import { waitForSync } from '../disks/sync'
import { diskDictOf, reread, type InstanceView } from '../view'
import type { IndexedDisk } from './plan'

export const STEPS = 6

export const volumeText = ({ logical_id }: Pick<DiskDict, 'logical_id'>): string => logical_id.join('/')

export async function checkExistence(
  ctx: UnitContext,
  view: InstanceView,
  disks: readonly IndexedDisk[],
  nodes: readonly Node[],
): Promise<void> {
  for (const { index, disk } of disks)
    for (const node of nodes) {
      ctx.log.info(`Checking disk/${index} on ${node.name}`)
      const found = await ctx.nodes.attempt(node, 'blockdev_find', [diskDictOf(view, disk)])
      if (found.ok && found.payload !== null) continue
      throw new OpExecError(
        `Can't find disk/${index} on node ${node.name}: ${found.ok ? 'disk not found' : found.error}\n` +
          'Disks seem to be not properly activated. Try running activate-disks on the instance before using replace-disks.',
      )
    }
}

export async function checkVolumeGroups(
  ctx: UnitContext,
  { config, disks }: InstanceView,
  nodes: readonly Node[],
): Promise<void> {
  ctx.log.info('Checking volume groups')
  const own = disks.flatMap(({ children }) => children.map(({ logical_id: [vg] }) => String(vg)))
  const groups = [...new Set(own.length > 0 ? own : [config.cluster.volume_group_name ?? ''])]
  const results = await ctx.nodes.many(nodes, 'vg_list', [])
  for (const node of nodes) {
    const found = ctx.nodes.raise(results, node, `Error checking node ${node.name}`)
    const missing = groups.find((group) => found[group] === undefined)
    if (missing !== undefined)
      throw new OpExecError(
        `Volume group '${missing}' not found on node ${node.name}: see there with "vgs" and "pvs" whether it has lost its disk`,
      )
  }
}

/** The new disks can be filled only from complete data. */
export async function checkPeer(
  ctx: UnitContext,
  view: InstanceView,
  disks: readonly IndexedDisk[],
  node: Node,
  localOnly: boolean,
): Promise<void> {
  for (const { index, disk } of disks) {
    ctx.log.info(`Checking disk/${index} consistency on node ${node.name}`)
    if (await isConsistent(ctx, view, disk, node, localOnly)) continue
    throw new OpExecError(
      `Node ${node.name} has degraded storage, unsafe to replace disks for instance ${view.instance.name}: its disk/${index} is not whole ` +
        `there; "gnt-instance activate-disks --wait-for-sync ${view.instance.name}" completes it, if the other node has all data`,
    )
  }
}

/** Old volumes of a node, with their disks' titles. */
export interface OldStorage {
  readonly node: Node
  readonly storage: readonly (readonly [title: string, volumes: readonly DiskDict[]])[]
}

/** For a replacement that ends without removing them. */
export function warnOfKept(ctx: UnitContext, { node, storage }: OldStorage): void {
  const volumes = storage.flatMap(([, list]) => list.map(volumeText))
  ctx.log.warning(`The old volumes stay on node ${node.name}: ${volumes.join(', ')}`, KEEP_UNTIL_UNKNOWN)
}

/** Fills the new disks and removes the old ones, or in the opposite order. */
export async function finish(
  ctx: UnitContext,
  { instance, disks, earlyRelease, old }: { instance: InstanceView; disks: readonly IndexedDisk[]; earlyRelease: boolean; old: OldStorage }, // prettier-ignore
): Promise<void> {
  let step = 5
  const removeOld = async (): Promise<void> => {
    ctx.log.step(step++, STEPS, 'Removing old storage')
    await removeStorage(ctx, old)
  }
  if (earlyRelease) {
    await removeOld()
    await ctx.locks.keepOnly('node-res', [])
  }
  await ctx.locks.keepOnly('node', [])
  ctx.log.step(step++, STEPS, 'Sync devices')
  const view = await reread(ctx, instance)
  // Disks that are not replaced may be degraded; replaced ones are checked one by one.
  await waitForSync(ctx, view)
  await checkWhole(ctx, view, disks, earlyRelease ? undefined : old)
  if (!earlyRelease) await removeOld()
}

async function checkWhole(
  ctx: UnitContext,
  view: InstanceView,
  disks: readonly IndexedDisk[],
  kept: OldStorage | undefined,
): Promise<void> {
  for (const { index } of disks) {
    const disk = view.disks[index]
    if (disk === undefined) continue
    const found = await ctx.nodes.attempt(view.primary, 'blockdev_find', [diskDictOf(view, disk)])
    const problem = !found.ok
      ? `Can't find DRBD device disk/${index}: ${found.error}`
      : found.payload === null
        ? `Can't find DRBD device disk/${index}: disk not found`
        : found.payload.is_degraded
          ? `DRBD device disk/${index} is degraded!`
          : undefined
    if (problem === undefined) continue
    if (kept !== undefined) warnOfKept(ctx, kept)
    throw new OpExecError(problem)
  }
}

async function removeStorage(ctx: UnitContext, { node, storage }: OldStorage): Promise<void> {
  for (const [title, volumes] of storage) {
    ctx.log.info(`Remove logical volumes for ${title}`)
    for (const volume of volumes) {
      const result = await ctx.nodes.attempt(node, 'blockdev_remove', [volume])
      if (!result.ok)
        ctx.log.warning(
          `Can't remove old LV ${volumeText(volume)} on node ${node.name}: ${result.error}`,
          'remove unused LVs manually',
        )
    }
  }
}
