// An instance's disks in use: activates, deactivates, opens and closes them, and checks their state.
import { change } from '../../../config/changes'
import type { Disk, Node } from '../../../model/config'
import { OpExecError } from '../../../model/errors'
import type { ResultOf } from '../../../rpc/node/calls'
import type { UnitContext } from '../../unit-context'
import { allNodes, dictOf, diskDictOf, diskDicts, reread, type InstanceView } from '../view'
import { isMirroredInside } from '../../../model/templates'

export type ActiveDisk = [node: string, disk: string, device: string | null]
/** The location of an assembled disk on the primary node, for hotplugging. */
export type DiskLink = readonly [link: string | true, uri: string | null]

/** Activates all disks or none: on failure, deactivates them again, unless a guest uses them, and throws. */
export async function startDisks(
  ctx: UnitContext,
  view: InstanceView,
  options: { force?: boolean; inUse?: boolean } = {},
): Promise<InstanceView> {
  const { ok, view: active } = await assembleDisks(ctx, view, { ignoreSecondaries: options.force === true })
  if (ok) return active
  if (!options.inUse) await shutdownDisks(ctx, active)
  if (options.force === false)
    ctx.log.hint("If the message above refers to a secondary node, you can retry the operation using '--force'")
  throw new OpExecError('Disk consistency error')
}

/** Secondaries first: a primary must find its peers ready. */
export async function assembleDisks(
  ctx: UnitContext,
  view: InstanceView,
  options: { ignoreSecondaries?: boolean; ignoreSize?: boolean; disks?: readonly Disk[] } = {},
): Promise<{ ok: boolean; devices: ActiveDisk[]; links: DiskLink[]; view: InstanceView }> {
  const { instance } = view
  // The state of one disk says nothing about the others.
  const all = options.disks === undefined
  if (all && !instance.disks_active)
    await ctx.config.change([change('setInstanceStatus', instance.uuid, null, true, null)])
  const active = await reread(ctx, view)
  const disks = (options.disks ?? active.disks).map((disk) => (options.ignoreSize ? withoutSize(disk) : disk))
  const devices: ActiveDisk[] = []
  const links: DiskLink[] = []
  let ok = true
  for (const disk of disks) {
    for (const node of nodesOf(active, disk)) {
      const secondary = node.uuid !== active.primary.uuid
      if ((await assembleOn(ctx, active, disk, node, false)) !== undefined) continue
      if (!(options.ignoreSecondaries || (secondary && node.offline))) ok = false
    }
  }
  for (const disk of disks) {
    const assembled = await assembleOn(ctx, active, disk, active.primary, true)
    if (assembled === undefined) ok = false
    const [device, link, uri] = assembled ?? [null, true]
    devices.push([active.primary.name, disk.iv_name, device === true ? '' : device])
    links.push([link ?? true, uri ?? null])
  }
  // Disks that were active before are still wanted, so that the watcher tries again.
  if (all && !ok && !instance.disks_active)
    await ctx.config.change([change('setInstanceStatus', instance.uuid, null, false, null)])
  return { ok, devices, links, view: active }
}

/** For disks whose configured size is wrong: a size of 0 is not compared with the device's. */
const withoutSize = (disk: Disk): Disk => ({ ...disk, size: 0, children: disk.children.map(withoutSize) })

async function assembleOn(
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  node: Node,
  asPrimary: boolean,
): Promise<ResultOf<'blockdev_assemble'> | undefined> {
  const index = view.disks.findIndex((other) => other.uuid === disk.uuid)
  const args = [diskDictOf(view, disk), dictOf(view), asPrimary, index] as const
  const result = await ctx.nodes.attempt(node, 'blockdev_assemble', [...args])
  if (result.ok) return result.payload
  const [flag, pass] = asPrimary ? ['True', 2] : ['False', 1]
  ctx.log.warning(
    `Could not prepare block device ${disk.iv_name} on node ${node.name} (is_primary=${flag}, pass=${pass}): ${result.error}`,
  )
  return undefined
}

/** Deactivates disks on every node. Returns false if that failed on a node that matters. */
export async function shutdownDisks(
  ctx: UnitContext,
  view: InstanceView,
  options: { ignorePrimary?: boolean; disks?: readonly Disk[] } = {},
): Promise<boolean> {
  if (options.disks === undefined && view.instance.disks_active)
    await ctx.config.change([change('setInstanceStatus', view.instance.uuid, null, false, null)])
  let ok = true
  for (const disk of options.disks ?? view.disks) {
    for (const node of nodesOf(view, disk)) {
      const result = await ctx.nodes.attempt(node, 'blockdev_shutdown', [diskDictOf(view, disk)])
      if (result.ok) continue
      ctx.log.warning(`Could not shutdown block device ${disk.iv_name} on node ${node.name}: ${result.error}`)
      const primary = node.uuid === view.primary.uuid
      if (primary ? !options.ignorePrimary : !result.offline) ok = false
    }
  }
  return ok
}

/** Closing removes write access, so that another node can have it. */
export async function closeDisks(ctx: UnitContext, view: InstanceView, node: Node, force = false): Promise<void> {
  ctx.log.say(`* closing instance disks on node ${node.name}`)
  if (view.disks.length === 0) return
  const result = await ctx.nodes.attempt(node, 'blockdev_close', [view.instance.name, diskDicts(view)])
  if (result.ok) return
  const text = `Cannot close instance disks on node ${node.name}, error ${result.error}`
  if (result.offline || force) ctx.log.warning(text)
  else throw new OpExecError(text)
}

export async function openDisks(ctx: UnitContext, view: InstanceView, node: Node, exclusive: boolean): Promise<void> {
  ctx.log.say(`* opening instance disks on node ${node.name} in ${exclusive ? 'exclusive' : 'shared'} mode`)
  if (view.disks.length === 0) return
  await ctx.nodes.call(node, `Cannot open instance disks on node ${node.name}`, 'blockdev_open', [
    view.instance.name,
    diskDicts(view),
    exclusive,
  ])
}

/** Whether a node has all of the disk's data. */
export async function isConsistent(
  ctx: UnitContext,
  view: InstanceView,
  disk: Disk,
  node: Node,
  localOnly = false,
): Promise<boolean> {
  const result = await ctx.nodes.attempt(node, 'blockdev_find', [diskDictOf(view, disk)])
  if (!result.ok) {
    ctx.log.warning(`Can't find disk on node ${node.name}: ${result.error}`)
    return false
  }
  if (result.payload === null) {
    ctx.log.warning(`Can't find disk on node ${node.name}`)
    return false
  }
  return localOnly ? result.payload.ldisk_status === 1 : !result.payload.is_degraded
}

/**
 * Mirrors whose copy on the primary node is not complete. Reading such a mirror's device is safe, as missing data comes
 * from the other node; its data volume alone must not be used. The disks must be active.
 */
export async function incompleteOnPrimary(
  ctx: UnitContext,
  view: InstanceView,
  disks: readonly Disk[] = view.disks,
): Promise<Disk[]> {
  const incomplete: Disk[] = []
  for (const disk of disks)
    if (isMirroredInside(disk.dev_type) && !(await isConsistent(ctx, view, disk, view.primary, true)))
      incomplete.push(disk)
  return incomplete
}

/** The nodes that handle a disk: its own if it is mirrored, otherwise the primary alone. */
export function nodesOf(view: InstanceView, disk: Disk): readonly Node[] {
  return isMirroredInside(disk.dev_type) ? allNodes(view) : [view.primary]
}
