// Reads back whether a change of disks was made whose answer was lost.
import type { Disk } from '../../../model/config'
import type { UnitContext } from '../../unit-context'

/** Whether the configuration has all these disks, with these places. */
export const areNoted = (ctx: UnitContext, disks: readonly Disk[]) => async (): Promise<boolean> => {
  const found = (await ctx.config.read({ disks: disks.map(({ uuid }) => uuid) })).disks
  return disks.every((disk) => JSON.stringify(found[disk.uuid]?.logical_id) === JSON.stringify(disk.logical_id))
}
