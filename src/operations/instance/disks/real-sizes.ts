// The real sizes of disks. A volume is rounded up to whole extents, and its guest uses all of it. The configuration only knows the
// requested size. With that size, copying a disk, wiping it, or putting a mirror around it would cut off or destroy its end.
import { change } from '../../../config/changes'
import type { Disk } from '../../../model/config'
import type { UnitContext } from '../../unit-context'
import { diskDictOf, type InstanceView } from '../view'

const MIB = 1 << 20

/** The sizes in bytes on the primary node, in the order of the disks. Undefined if the node does not report a size. */
export async function realSizes(
  ctx: UnitContext,
  view: InstanceView,
  disks: readonly Disk[] = view.disks,
): Promise<readonly (number | undefined)[]> {
  if (disks.length === 0) return []
  const dicts = disks.map((disk) => diskDictOf(view, disk))
  const result = await ctx.nodes.attempt(view.primary, 'blockdev_getdimensions', [dicts])
  if (!result.ok) ctx.log.warning(`Cannot ask node ${view.primary.name} how large the disks are: ${result.error}`)
  return disks.map((_, index) => (result.ok ? result.payload[index]?.[0] : undefined))
}

/** The instance with the real sizes of its disks; the job's log names them. A disk that is too small keeps its configured size. */
export const sizedAs = (
  ctx: UnitContext,
  view: InstanceView,
  bytes: readonly (number | undefined)[],
): InstanceView => ({
  ...view,
  disks: view.disks.map((disk, index) => asLargeAs(ctx, disk, bytes[index] ?? 0, index)),
})

/** Like `sizedAs`, and writes the sizes to the configuration. */
export async function noteRealSizes(ctx: UnitContext, view: InstanceView): Promise<InstanceView> {
  const sized = sizedAs(ctx, view, await realSizes(ctx, view))
  const larger = sized.disks.filter((disk, index) => disk !== view.disks[index])
  if (larger.length > 0)
    await ctx.config.change(larger.map(({ uuid, size, children }) => change('patchDisk', uuid, { size, children })))
  return sized
}

function asLargeAs(ctx: UnitContext, disk: Disk, bytes: number, index: number): Disk {
  const size = Math.ceil(bytes / MIB)
  if (size <= disk.size) return disk
  ctx.log.info(`Disk ${index} has ${size} MiB, and not ${disk.size} as in the configuration: all of it is kept`)
  // The first part of a mirror has the data.
  const children = disk.children.map((child, part) => (part === 0 && child.size < size ? { ...child, size } : child))
  return { ...disk, size, children }
}
