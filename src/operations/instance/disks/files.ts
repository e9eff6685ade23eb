// Makes, wipes and deletes the data of an instance's disks on its nodes.
import * as path from 'node:path'
import { fillNdParams } from '../../../config/filled'
import type { DiskDict } from '../../../config/rpc-dicts'
import type { DiskDict as SentDisk } from '../../../rpc/node/dicts'
import { MAX_WIPE_CHUNK_MIB, MIN_WIPE_CHUNK_PERCENT } from '../../../model/constants/disks'
import type { Disk, Node } from '../../../model/config'
import { OpExecError } from '../../../model/errors'
import type { UnitContext } from '../../unit-context'
import { nodesOf } from './activation'
import { giveBack, isAdopted } from './adoption'
import { diskText } from './disk-text'
import { realSizes } from './real-sizes'
import { diskDictOf, diskDicts, type InstanceView } from '../view'
import { diskIdOf, factsOf } from '../../../model/templates'

/**
 * Makes all disks or none. After a failure it removes those that were made, and names those that it could not remove.
 * It also removes the failed disk if it is `unique`, since a call without an answer may have made it; otherwise that
 * may be somebody's data. After a failure `undone` learns whether nothing is left: only then may the disks be
 * forgotten.
 */
export async function createDisks(
  ctx: UnitContext,
  view: InstanceView,
  disks: readonly Disk[],
  { unique = true, undone }: { unique?: boolean; undone?: (whole: boolean) => Promise<void> } = {},
): Promise<void> {
  const made: Made[][] = []
  try {
    await createDirectories(ctx, view, disks)
    for (const disk of disks) {
      const onNodes = nodesOf(view, disk).map((node): OnNode => ({ node, disk, unique, made: [] }))
      made.push(...onNodes.map((one) => one.made))
      await allOrThrow(onNodes.map((one) => createParts(ctx, view, one)))
      // The primary node's data counts, so its side is made first.
      for (const one of onNodes) await createItself(ctx, view, one)
    }
  } catch (error) {
    const whole = await undoCreate(ctx, made.flat())
    await undone?.(whole)
    throw error
  }
}

/** A device on a node; removing it removes its parts too. */
interface Made {
  readonly node: Node
  readonly disk: Disk
  readonly dict: DiskDict
  /** The node has said that it made the device. */
  isSure: boolean
}

export async function createDirectories(ctx: UnitContext, view: InstanceView, disks: readonly Disk[]): Promise<void> {
  for (const folder of fileFolders(disks)) {
    const what = `Failed to create directory '${folder}' on node ${view.primary.name}`
    await ctx.nodes.call(view.primary, what, 'file_storage_dir_create', [folder])
  }
}

/** The folders with an instance's files: one in each folder of files for which a disk was asked. */
function fileFolders(disks: readonly Disk[]): string[] {
  const files = disks.filter(({ dev_type }) => factsOf(dev_type).namedAfterInstance === true)
  return [...new Set(files.map(({ logical_id }) => path.posix.dirname(String(logical_id[1]))))]
}

/** Removes the folders of files that are gone, unless files of `others` are there. Returns whether all are gone. */
export async function removeDirectories(
  ctx: UnitContext,
  view: InstanceView,
  gone: readonly Disk[],
  others: readonly Disk[],
): Promise<boolean> {
  const used = fileFolders(others)
  let ok = true
  for (const folder of fileFolders(gone).filter((one) => !used.includes(one))) {
    const result = await ctx.nodes.persist(view.primary, 'file_storage_dir_remove', [folder])
    if (result.ok) continue
    ctx.log.warning(`Could not remove directory '${folder}' on node ${view.primary.name}: ${result.error}`)
    ok = false
  }
  return ok
}

interface OnNode {
  readonly node: Node
  readonly disk: Disk
  readonly unique: boolean
  readonly made: Made[]
}

/** Makes the parts of a disk. */
async function createParts(ctx: UnitContext, view: InstanceView, on: OnNode): Promise<void> {
  const dict = diskDictOf(view, on.disk)
  for (const [index, disk] of on.disk.children.entries())
    await createNoted(ctx, view, on, { node: on.node, disk, dict: dict.children[index] ?? dict, isSure: false })
}

/** Removing the disk removes its parts. */
function createItself(ctx: UnitContext, view: InstanceView, on: OnNode): Promise<void> {
  const { node, disk, made } = on
  return createNoted(
    ctx,
    view,
    on,
    { node, disk, dict: diskDictOf(view, disk), isSure: false },
    () => void made.splice(0),
  )
}

async function createNoted(
  ctx: UnitContext,
  view: InstanceView,
  { unique, made }: OnNode,
  device: Made,
  before: () => void = () => undefined,
): Promise<void> {
  const note = () => {
    before()
    made.push(device)
  }
  if (unique) note()
  await createDevice(ctx, view, device.node, device.disk, device.dict)
  device.isSure = true
  if (!unique) note()
}

/** When it throws, no work is running any more. */
async function allOrThrow(work: readonly Promise<void>[]): Promise<void> {
  for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') throw result.reason
}

/** Makes a device on a node. Its parts must exist. */
export async function createDevice(
  ctx: UnitContext,
  view: InstanceView,
  node: Node,
  disk: Disk,
  dict: SentDisk,
  asPrimary = node.uuid === view.primary.uuid,
): Promise<void> {
  const { name } = view.instance
  await ctx.nodes.call(
    node,
    `Can't create block device ${diskText(disk)} on node ${node.name} for instance ${name}`,
    'blockdev_create',
    [dict, disk.size, name, asPrimary, ownerNote(name), fillNdParams(view.config, node).exclusive_storage],
  )
}

async function undoCreate(ctx: UnitContext, made: readonly Made[]): Promise<boolean> {
  let whole = true
  for (const one of made) {
    const { node, disk, dict } = one
    const result = await ctx.nodes.persist(node, 'blockdev_remove', [dict])
    if (result.ok || (await wasNeverMade(ctx, one))) continue
    ctx.log.warning(`Failed to remove newly-created disk ${diskText(disk)} on node ${node.name}: ${result.error}`)
    whole = false
  }
  return whole
}

/** A provider does not tell a volume that is missing from one that it cannot remove. */
async function wasNeverMade(ctx: UnitContext, { node, disk, dict, isSure }: Made): Promise<boolean> {
  if (isSure || diskIdOf(disk.dev_type) !== 'provider') return false
  const found = await ctx.nodes.attempt(node, 'blockdev_find', [dict])
  return found.ok && found.payload === null
}

/** Deletes the disks. If one may be left, warns with its name and returns false. Volumes that were to be adopted stay. */
export async function removeDisks(ctx: UnitContext, view: InstanceView, disks: readonly Disk[]): Promise<boolean> {
  let ok = true
  if (!(await giveBack(ctx, view, disks.filter(isAdopted)))) ok = false
  for (const disk of disks.filter((one) => !isAdopted(one))) {
    for (const node of nodesOf(view, disk)) {
      const result = await ctx.nodes.persist(node, 'blockdev_remove', [diskDictOf(view, disk)])
      if (result.ok) continue
      ctx.log.warning(`Could not remove disk ${disk.iv_name} on node ${node.name}, continuing anyway: ${result.error}`)
      if (!result.offline || node.uuid === view.primary.uuid) ok = false
    }
  }
  const others = view.disks.filter(({ uuid }) => disks.every((one) => one.uuid !== uuid))
  return (await removeDirectories(ctx, view, disks, others)) && ok
}

/** A note on the nodes that names the data's owner. */
const ownerNote = (instance: string): string => `originstname+${instance}`

/** For data that existed before, or whose instance has a new name. */
export async function noteOwner(ctx: UnitContext, view: InstanceView): Promise<void> {
  for (const [index, disk] of view.disks.entries()) {
    for (const node of nodesOf(view, disk)) {
      const args = [diskDictOf(view, disk), ownerNote(view.instance.name)] as const
      const result = await ctx.nodes.attempt(node, 'blockdev_setinfo', [...args])
      if (!result.ok) ctx.log.warning(`Error setting info on node ${node.name} for disk ${index}: ${result.error}`)
    }
  }
}

/** Overwrites whole disks with zeros, in pieces, and reports progress. */
export async function wipeDisks(ctx: UnitContext, view: InstanceView, disks: readonly Disk[]): Promise<void> {
  const { primary } = view
  const paused = await ctx.nodes.attempt(primary, 'blockdev_pause_resume_sync', [diskDicts(view), true])
  if (!paused.ok) ctx.log.warning(`Failed to pause disk synchronization: ${paused.error}`)
  try {
    const bytes = await realSizes(ctx, view, disks)
    for (const [index, disk] of disks.entries()) await wipeFrom(ctx, view, sizedToWipe(disk, bytes[index]), 0)
  } finally {
    const resumed = await ctx.nodes.attempt(primary, 'blockdev_pause_resume_sync', [diskDicts(view), false])
    if (!resumed.ok) ctx.log.warning(`Failed to resume disk synchronization: ${resumed.error}`)
  }
}

/** A guest also uses the space that LVM has rounded up, and there may be old data of others in it. */
export const sizedToWipe = (disk: Disk, bytes = 0): Disk => ({
  ...disk,
  size: Math.max(disk.size, Math.floor(bytes / (1 << 20))),
})

/** Wipes a disk from an offset on; the part before it is in use. */
export async function wipeFrom(ctx: UnitContext, view: InstanceView, disk: Disk, from_mib: number): Promise<void> {
  const index = disk.iv_name.replace('disk/', '')
  const chunk_mib = Math.max(1, Math.min(MAX_WIPE_CHUNK_MIB, Math.floor((disk.size * MIN_WIPE_CHUNK_PERCENT) / 100)))
  ctx.log.info(`* Wiping disk ${index}`)
  for (let offset = from_mib; offset < disk.size; offset += chunk_mib) {
    const size = Math.min(chunk_mib, disk.size - offset)
    const what = `Could not wipe disk ${index} at offset ${offset} for size ${size}`
    await ctx.nodes.call(view.primary, what, 'blockdev_wipe', [diskDictOf(view, disk), offset, size])
    ctx.log.info(` - done: ${((100 * (offset + size)) / disk.size).toFixed(1)}%`)
  }
}

/** Ganeti announces new disks, if they have no parts. */
export function tellDisk(ctx: UnitContext, disk: Disk, index: number): void {
  if (disk.children.length === 0) ctx.log.say(`* disk ${index}, size ${sizeText(disk.size)}`)
}

/** A size as Ganeti prints it. */
export function sizeText(mib: number): string {
  if (mib < 1024) return `${mib}M`
  return mib < 1024 * 1024 ? `${(mib / 1024).toFixed(1)}G` : `${(mib / 1024 / 1024).toFixed(1)}T`
}

export const degraded = (): OpExecError => new OpExecError('There are some degraded disks for this instance')
