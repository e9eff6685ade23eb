// Physical volumes: checks whether they are there, their names and, if they are given to instances as whole disks, their sizes.
import { fillNdParams } from '../../../config/filled'
import { isLostVolume, wayOfLostVolume } from '../../../model/constants/disks'
import type { GroupState, NodeImage } from './group-state'
import type { VerifyReport } from './report'
import { volumeGroupOf } from './request'

/** How far the size of disks that count as equal may be from the mean. */
const MARGIN = 0.01

interface PhysicalVolume {
  readonly name: string
  readonly vg_name: string
  /** MiB. */
  readonly size: number
  /** Those of LVM, such as `a-m`. */
  readonly attributes?: string
}

export function verifyPhysicalVolumes(report: VerifyReport, state: GroupState, { node, answer }: NodeImage): void {
  if (volumeGroupOf(state.config.cluster) === undefined) return
  const volumes = volumesIn(answer['pvlist'])
  if (volumes === undefined) return report.error('ENODELVM', node.name, "Can't get PV list from node")
  for (const { name, vg_name, attributes = '' } of volumes) {
    const lost = `PV '${name}' of VG '${vg_name}' is missing, so nothing in this group can change; ${wayOfLostVolume(vg_name, node.name)}`
    report.when(isLostVolume(attributes), 'ENODELVM', node.name, lost)
    report.when(
      name.includes(':'),
      'ENODELVM',
      node.name,
      `Invalid character ':' in PV '${name}' of VG '${vg_name}': lvcreate takes what follows for extents`,
    )
  }
}

/** In a group with exclusive storage, each disk must be able to replace any other. */
export function verifyVolumeSizes(
  report: VerifyReport,
  { config, group }: GroupState,
  images: readonly NodeImage[],
): void {
  const all = images
    .filter(({ node }) => fillNdParams(config, node).exclusive_storage)
    .flatMap(({ node, answer }) => (volumesIn(answer['pvlist']) ?? []).map(({ size }) => ({ node: node.name, size })))
    .sort((a, b) => a.size - b.size)
  const [smallest, biggest] = [all[0], all.at(-1)]
  if (smallest === undefined || biggest === undefined) return
  const text =
    `PV sizes differ too much in the group; smallest (${smallest.size} MB) is on ${smallest.node}, biggest ` +
    `(${biggest.size} MB) is on ${biggest.node}`
  const differ = smallest.size * (1 + MARGIN) < biggest.size * (1 - MARGIN)
  report.when(differ, 'EGROUPDIFFERENTPVSIZE', group.name, text)
}

const volumesIn = (reported: unknown): PhysicalVolume[] | undefined =>
  Array.isArray(reported) && reported.every(isVolume) ? reported : undefined

const isVolume = (value: unknown): value is PhysicalVolume =>
  typeof value === 'object' && value !== null && 'name' in value && 'size' in value && typeof value.size === 'number'
