// Finds logical volumes that are missing, have another size than configured, or have no owner. Names the remedy, because an interrupted
// operation may have left an instance's data under another name.
import { diskDict } from '../../../config/rpc-dicts'
import { instanceDisks, instanceNodes, instanceOfDisk, logicalVolumes } from '../../../config/lookup'
import { recordValues } from '../../../config/records'
import type { ConfigData, Disk, Instance } from '../../../model/config'
import { allSnapshots } from '../../../model/snapshots'
import { diskIdOf, isMirrored } from '../../../model/templates'
import { compileRegex } from '../../../query/regex'
import type { GroupState, NodeImage } from './group-state'
import { removal } from './node-commands'
import { reasonToKeep, wantedVolumes } from './only-copies'
import type { VerifyReport } from './report'
import { volumeGroupOf } from './request'
import { anewOn, type Part, type Unknown, WaysBack } from './ways-back'

export function verifyVolumes(report: VerifyReport, state: GroupState, instance: Instance): void {
  const parts = instanceDisks(state.config, instance).flatMap((disk) => partsOf(state.config, instance, disk))
  if (parts.length === 0) return
  const ways = new WaysBack(state, instance, parts, () => unknownVolumes(state))
  for (const image of state.images)
    for (const part of parts.filter(({ nodes }) => nodes.includes(image.node.uuid))) {
      const { vg, lv } = part
      const { node, volumes } = image
      if (volumes === undefined) continue
      const size_mib = volumes.get(`${vg}/${lv}`)
      const anew = anewOn(node.uuid, instance, ways.rootOf(part.disk))
      if (!volumes.has(`${vg}/${lv}`)) {
        const text = `volume ${vg}/${lv} missing on node ${node.name}${ways.of(part, { image, volumes })}`
        report.error('EINSTANCEMISSINGDISK', instance.name, text)
        // A job that works on the instance may grow its disks now.
      } else if (size_mib !== undefined && !state.busy.has(instance.name)) {
        const [problem, way] = sizeProblem(part, size_mib, () => unit_mib(volumes, vg) * part.stripes, anew)
        if (problem === undefined) continue
        const text = `volume ${vg}/${lv} has ${size_mib} MiB on node ${node.name}, and ${part.disk.size} in the configuration; ${way}`
        report.error('EINSTANCEFAULTYDISK', instance.name, text, problem === 'smaller' ? 'ERROR' : 'WARNING')
      }
    }
}

interface SizedPart extends Part {
  readonly stripes: number
}

/** The volumes that a disk consists of. */
function partsOf(
  config: ConfigData,
  instance: Instance,
  disk: Disk,
  isInside = false,
  /** As its node is told. */
  dict = diskDict(config, disk, config.nodegroups[config.nodes[instance.primary_node]?.group ?? '']),
): SizedPart[] {
  const nodes = isMirrored(disk.dev_type) || isInside ? instanceNodes(config, instance) : [instance.primary_node]
  const stripes = Number(dict.params['stripes'] ?? 1)
  const [vg = '', lv = ''] = disk.logical_id.map(String)
  const own = diskIdOf(disk.dev_type) === 'volume' ? [{ vg, lv, disk, nodes, isInside, stripes }] : []
  return [
    ...own,
    ...disk.children.flatMap((child, index) =>
      partsOf(config, instance, child, isMirrored(disk.dev_type), dict.children[index]),
    ),
  ]
}

/** A guest uses a volume to its end. A mirror ignores what its parts have beyond its size. */
function sizeProblem({ disk, isInside }: SizedPart, size_mib: number, unit: () => number, anew: string) {
  if (size_mib < disk.size) return ['smaller', isInside ? `${anew} makes that side again` : NOTES_SIZES] as const
  const beyond = size_mib - disk.size
  return !isInside && beyond >= DEFAULT_EXTENT_MIB && beyond >= unit()
    ? (['larger', NOTES_SIZES] as const)
    : ([] as const)
}

const NOTES_SIZES = "'gnt-cluster repair-disk-sizes' records its size"

/**
 * The largest amount by which LVM rounds up, in MiB. The sizes of all volumes of a group tell it, because volumes consist of whole extents.
 */
function unit_mib(volumes: ReadonlyMap<string, number | undefined>, vg: string): number {
  const sizes = [...volumes].flatMap(([name, size]) => (name.startsWith(`${vg}/`) && size !== undefined ? [size] : []))
  return Math.max(DEFAULT_EXTENT_MIB, sizes.map(Math.round).reduce(commonDivisor, 0))
}

const DEFAULT_EXTENT_MIB = 4

const commonDivisor = (a: number, b: number): number => (b === 0 ? a : commonDivisor(b, a % b))

const OWN_NAME = /\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.disk\d+(_data|_meta)?(_replaced-\d+)?$/

export function verifyOrphanVolumes(report: VerifyReport, state: GroupState): void {
  const desired = wantedVolumes(state.config)
  for (const { image, volume } of unknownVolumes(state)) {
    const [vg = ''] = volume.split('/')
    const todo =
      reasonToKeep(desired, [...state.images, ...state.holders], image, volume) ??
      `if nobody needs it, remove it there with '${removal(image, vg, volume.slice(vg.length + 1))}'`
    report.error('ENODEORPHANLV', image.node.name, `volume ${volume} is unknown; ${todo}`, 'WARNING')
  }
}

export function unknownVolumes({
  config,
  images,
  snapshots,
}: Pick<GroupState, 'config' | 'images' | 'snapshots'>): Unknown[] {
  const desired = volumeGroupOf(config.cluster)
  if (desired === undefined) return []
  const reserved = config.cluster.reserved_lvs.map((pattern) => compileRegex(`^(?:${pattern})$`))
  const owned = ownedVolumes(config)
  const noted = allSnapshots(snapshots).filter(({ dev_type }) => diskIdOf(dev_type) === 'volume')
  return images.flatMap((image) => {
    const { node, volumes = new Map<string, unknown>() } = image
    const here = noted.filter((one) => one.node === null || one.node === node.uuid)
    const own = new Set([...(owned.get(node.uuid) ?? []), ...here.map(({ logical_id: [vg, lv] }) => `${vg}/${lv}`)])
    // In other volume groups than the cluster's own, only volumes with names like those of its disks are its business.
    const isUnknown = (volume: string) =>
      !own.has(volume) &&
      !reserved.some((pattern) => pattern.test(volume)) &&
      (volume.startsWith(`${desired}/`) || OWN_NAME.test(volume))
    return [...volumes.keys()].filter(isUnknown).map((volume) => ({ image, volume }))
  })
}

/** By node. Includes detached disks. */
function ownedVolumes(config: ConfigData): Map<NodeImage['node']['uuid'], Set<string>> {
  const owned = new Map<NodeImage['node']['uuid'], Set<string>>()
  for (const disk of recordValues(config.disks))
    for (const node of nodesOf(config, disk)) {
      const names = owned.get(node) ?? new Set()
      owned.set(node, names)
      for (const [vg, lv] of logicalVolumes(disk)) names.add(`${vg}/${lv}`)
    }
  return owned
}

function nodesOf(config: ConfigData, disk: Disk): readonly NodeImage['node']['uuid'][] {
  const instance = instanceOfDisk(config, disk.uuid)
  return [...disk.nodes, ...(instance === undefined ? [] : instanceNodes(config, instance))]
}
