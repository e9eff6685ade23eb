// Chooses the physical volumes and the number of stripes for a new logical volume.
import { fail } from '../../failure'
import { isLostVolume } from '../../../model/constants/disks'
import { lostFrom, MORE_ROOM } from './problem'
import type { PhysicalVolume } from './units'

export interface Wish {
  readonly vg: string
  readonly size_mib: number
  readonly stripes: number
  /** Whether instances get whole physical volumes. */
  readonly exclusive: boolean
  readonly spindles: number | undefined
}

/**
 * Physical volumes may differ by this share of their size and still count as equal. RESERVED is a share that is never promised to a disk.
 */
const MARGIN = 0.01
const RESERVED = 0.02

export function placing(
  volumes: readonly PhysicalVolume[],
  { vg, size_mib, stripes, exclusive, spindles }: Wish,
  node: string,
): { devices: string[]; stripes: number } {
  const group = volumes.filter((one) => one.vg === vg)
  const usable = group.filter(({ allocatable }) => allocatable).toSorted((a, b) => b.free_mib - a.free_mib)
  if (group.length === 0)
    return fail(`There is no volume group '${vg}' on node ${node}: make it with vgcreate, or name another one`)
  if (group.some(({ attributes }) => isLostVolume(attributes)))
    return fail(`No volume can be made on node ${node}: ${lostFrom(vg, node)}`)
  if (usable.length === 0)
    return fail(`No physical volume of group '${vg}' on node ${node} may be used: pvchange --allocatable y allows it`)
  const odd = usable.find(({ name }) => name.includes(':'))
  if (odd)
    return fail(`Physical volume '${odd.name}' on node ${node} has a ':' in its name: let lvm.conf choose another name`)
  if (exclusive) return exclusivePlacing(usable, { vg, size_mib, spindles }, node)
  const free_mib = Math.floor(usable.reduce((sum, one) => sum + one.free_mib, 0))
  if (free_mib < size_mib)
    fail(
      `Volume group '${vg}' on node ${node} is too full for ${size_mib} MiB, it has ${free_mib} MiB left: ${MORE_ROOM}`,
    )
  return { devices: usable.map(({ name }) => name), stripes: Math.max(1, Math.min(stripes, usable.length)) }
}

/** A disk gets as many whole physical volumes as it has spindles, and is striped over all of them. */
function exclusivePlacing(
  usable: readonly PhysicalVolume[],
  { vg, size_mib, spindles }: Pick<Wish, 'vg' | 'size_mib' | 'spindles'>,
  node: string,
): { devices: string[]; stripes: number } {
  if (spindles === undefined)
    return fail(
      'A disk needs a number of spindles where storage is exclusive: gnt-cluster repair-disk-sizes records it',
    )
  const needed = Math.ceil(size_mib / standardSize_mib(usable))
  if (spindles < needed) fail(`A disk of ${size_mib} MiB needs at least ${needed} spindles, not ${spindles}`)
  const empty = usable.filter(isEmpty)
  if (empty.length < spindles)
    fail(`Volume group '${vg}' on node ${node} has ${empty.length} empty physical volumes, and ${spindles} are needed`)
  return { devices: empty.slice(0, spindles).map(({ name }) => name), stripes: spindles }
}

/** The size that each physical volume of a node counts as, under exclusive storage. */
export const standardSize_mib = (volumes: readonly Pick<PhysicalVolume, 'size_mib'>[]): number =>
  Math.floor(Math.min(...volumes.map(({ size_mib }) => size_mib)) / (1 + MARGIN + RESERVED))

/** LVM keeps up to 1 MiB for its own data. */
export const isEmpty = ({ size_mib, free_mib }: Pick<PhysicalVolume, 'size_mib' | 'free_mib'>): boolean =>
  size_mib <= free_mib + 1
