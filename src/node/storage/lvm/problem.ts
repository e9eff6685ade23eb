// What LVM says when it fails, with the way out that it does not name.
import { wayOfLostVolume } from '../../../model/constants/disks'
import { said } from '../tools'

export function lvmProblem(output: string, vg: string, node: string): string {
  const words = said(output)
  if (LOST.test(output)) return `${words}; ${lostFrom(vg, node)}`
  return /insufficient/i.test(output) ? `${words}; ${MORE_ROOM}` : words
}

export const MORE_ROOM = 'remove what is not needed, extend the group with vgextend, or choose another node'

/** LVM changes no group of which a physical volume is missing, and activates no volume that was on it. */
const LOST = /PVs are missing|partial (LV|logical volume)/i

export const lostFrom = (vg: string, node: string): string =>
  `a physical volume of group '${vg}' is missing: ${wayOfLostVolume(vg, node)}`
