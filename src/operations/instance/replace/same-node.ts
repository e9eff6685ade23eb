// Replaces volumes by new ones with the same names on the same node: the mirror drops the old ones, gets the new ones,
// and fills them from the other side.
import { KEEP_UNTIL_UNKNOWN } from '../../../model/leftovers'
import type { DiskDict } from '../../../config/rpc-dicts'
import { seconds } from '../../../lib/clock'
import { OpExecError } from '../../../model/errors'
import { diskUuid } from '../../../model/ids'
import type { UnitContext } from '../../unit-context'
import { createDevice } from '../disks/files'
import { renameBack } from '../disks/rename-back'
import { Undo } from '../disks/undo'
import { diskDictOf } from '../view'
import type { IndexedDisk, SameNode } from './plan'
import { checkExistence, checkPeer, checkVolumeGroups, finish, STEPS, volumeText } from './steps'

interface Exchange {
  readonly one: IndexedDisk
  readonly dict: DiskDict
  readonly before: readonly DiskDict[]
  readonly after: readonly DiskDict[]
}

export async function replaceOnNode(ctx: UnitContext, replacement: SameNode): Promise<void> {
  const { view, disks, target, other, earlyRelease } = replacement
  ctx.log.step(1, STEPS, 'Check device existence')
  await checkExistence(ctx, view, disks, [other, target])
  await checkVolumeGroups(ctx, view, [target, other])
  ctx.log.step(2, STEPS, 'Check peer consistency')
  await checkPeer(ctx, view, disks, other, false)
  ctx.log.step(3, STEPS, 'Allocate new storage')
  const undo = new Undo(ctx)
  const exchanges: Exchange[] = []
  await undo.around(async () => {
    for (const one of disks) exchanges.push(await newVolumes(ctx, replacement, one, undo))
  })
  ctx.log.step(4, STEPS, 'Changing drbd configuration')
  const storage: [string, readonly DiskDict[]][] = []
  for (const [index, exchange] of exchanges.entries()) {
    const unused = exchanges.slice(index + 1)
    try {
      storage.push([exchange.one.disk.iv_name, await exchangeVolumes(ctx, replacement, exchange, unused)])
    } catch (error) {
      const kept = storage.flatMap(([, volumes]) => volumes.map(volumeText))
      if (kept.length > 0)
        ctx.log.warning(
          `Old volumes of other disks stay on node ${target.name}: ${kept.join(', ')}`,
          KEEP_UNTIL_UNKNOWN,
        )
      throw error
    }
  }
  await finish(ctx, { instance: view, disks, earlyRelease, old: { node: target, storage } })
}

async function newVolumes(
  ctx: UnitContext,
  { view, target }: SameNode,
  one: IndexedDisk,
  undo: Undo,
): Promise<Exchange> {
  const { index, disk } = one
  ctx.log.info(`Adding storage on ${target.name} for disk/${index}`)
  const dict = diskDictOf(view, disk)
  const name = ctx.env.random.uuid()
  const after: DiskDict[] = []
  for (const [part, child] of disk.children.entries()) {
    const suffix = part === 0 ? 'data' : 'meta'
    const uuid = diskUuid(ctx.env.random.uuid())
    const volume = { ...child, uuid, logical_id: [child.logical_id[0] ?? '', `${name}.disk${index}_${suffix}`] }
    const made = { ...(dict.children[part] ?? dict), uuid, logical_id: volume.logical_id }
    undo.push(`remove new volume ${volumeText(made)}`, () => ctx.nodes.persist(target, 'blockdev_remove', [made]))
    // As on a secondary node, only the mirror writes to the volume.
    await createDevice(ctx, view, target, volume, made, false)
    after.push(made)
  }
  return { one, dict, before: dict.children, after }
}

/** Returns the old volumes under their new names. On failure the mirror keeps its old volumes. */
async function exchangeVolumes(
  ctx: UnitContext,
  { target }: SameNode,
  { one: { disk }, dict, before, after }: Exchange,
  unused: readonly Exchange[],
): Promise<DiskDict[]> {
  const node = target.name
  const suffix = `_replaced-${Math.floor(seconds(ctx.env.clock))}`
  const away = (volume: DiskDict): DiskDict => ({
    ...volume,
    logical_id: [volume.logical_id[0] ?? '', `${volume.logical_id[1]}${suffix}`],
  })
  const rename = (pairs: readonly (readonly [DiskDict, DiskDict])[]) =>
    ctx.nodes.attempt(target, 'blockdev_rename', [pairs.map(([from, to]) => [from, to.logical_id])])
  const back = (pairs: readonly (readonly [DiskDict, DiskDict])[]) =>
    renameBack(
      ctx,
      target,
      pairs.map(([from, to]) => [to, from.logical_id]),
    )
  const undo = new Undo(ctx)
  for (const volume of [...after, ...unused.flatMap((later) => later.after)])
    undo.push(`remove new volume ${volumeText(volume)}`, () => ctx.nodes.persist(target, 'blockdev_remove', [volume]))
  await undo.around(async () => {
    ctx.log.info(`Detaching ${disk.iv_name} drbd from local storage`)
    const detach = `Can't detach drbd from local storage on node ${node} for device ${disk.iv_name}`
    await ctx.nodes.call(target, detach, 'blockdev_removechildren', [dict, before])
    undo.push(`give ${disk.iv_name} its old volumes back on node ${node}`, () =>
      ctx.nodes.persist(target, 'blockdev_addchildren', [dict, before]),
    )
    const there: DiskDict[] = []
    for (const volume of before) {
      const found = await ctx.nodes.attempt(target, 'blockdev_find', [volume])
      if (found.ok && found.payload !== null) there.push(volume)
    }
    ctx.log.info('Renaming the old LVs on the target node')
    undo.push(`give the old volumes of ${disk.iv_name} their names back on node ${node}`, () =>
      back(there.map((volume) => [volume, away(volume)])),
    )
    await renamed(`Can't rename old LVs on node ${node}`, rename(there.map((volume) => [volume, away(volume)])))
    ctx.log.info('Renaming the new LVs on the target node')
    const pairs = after.flatMap((volume, part) => {
      const old = before[part]
      return old === undefined ? [] : [[volume, { ...volume, logical_id: old.logical_id }] as const]
    })
    undo.push(`take the names from the new volumes of ${disk.iv_name} on node ${node}`, () => back(pairs))
    await renamed(`Can't rename new LVs on node ${node}`, rename(pairs))
    ctx.log.info(`Adding new mirror component on ${node}`)
    const added = pairs.map(([, to]) => to)
    // Its answer may get lost. While the mirror has the new volumes, their names must stay.
    undo.push(
      `detach the new volumes of ${disk.iv_name} on node ${node}`,
      () => ctx.nodes.persist(target, 'blockdev_removechildren', [dict, added]),
      { needed: true },
    )
    await ctx.nodes.call(target, "Can't add local storage to drbd", 'blockdev_addchildren', [dict, added])
  })
  return before.map(away)
}

async function renamed(what: string, requested: ReturnType<UnitContext['nodes']['attempt']>): Promise<void> {
  const result = await requested
  if (!result.ok) throw new OpExecError(`${what}: ${result.error}`)
}
