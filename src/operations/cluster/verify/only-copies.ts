// Volumes without owner that may be the only copy of a disk of the configuration: an operation that did not end may have renamed them, or
// left them on another node. Nobody is told how to remove such a volume.
import { instanceNodes, instanceOfDisk } from '../../../config/lookup'
import { recordValues } from '../../../config/records'
import type { ConfigData, Disk } from '../../../model/config'
import { diskIdOf } from '../../../model/templates'
import { DATA, META, REPLACED } from '../../instance/disks/volume-names'
import type { Holder, NodeImage } from './group-state'

/** A volume that the configuration names. */
export interface WantedVolume {
  readonly volume: string
  readonly size_mib: number
  readonly nodes: ReadonlySet<string>
  /** Whether its disk is only reserved, and has no data yet. */
  readonly forthcoming: boolean
}

export const wantedVolumes = (config: ConfigData): WantedVolume[] =>
  recordValues(config.disks).flatMap((disk) => {
    const instance = instanceOfDisk(config, disk.uuid)
    const nodes = new Set<string>([...disk.nodes, ...(instance === undefined ? [] : instanceNodes(config, instance))])
    const forthcoming = disk.forthcoming === true
    return volumesOf(disk).map(({ logical_id: [vg, lv], size: size_mib }) => {
      return { volume: `${vg}/${lv}`, size_mib, nodes, forthcoming }
    })
  })

const volumesOf = (disk: Disk): Disk[] => [
  ...(diskIdOf(disk.dev_type) === 'volume' ? [disk] : []),
  ...disk.children.flatMap(volumesOf),
]

/** Why the volume must not be removed; undefined if no disk lacks it. */
export function reasonToKeep(
  desired: readonly WantedVolume[],
  holders: readonly Holder[],
  { node, volumes = new Map<string, number | undefined>() }: Holder,
  volume: string,
): string | undefined {
  const has = (uuid: string, name: string) => holders.find((one) => one.node.uuid === uuid)?.volumes?.has(name) === true
  const isLost = (one: WantedVolume) => [...one.nodes].every((uuid) => !has(uuid, one.volume))
  const renamed = desired.find(
    (one) => one.nodes.has(node.uuid) && !volumes.has(one.volume) && isNamedLike(volume, one.volume),
  )
  if (renamed !== undefined && !REPLACED.test(volume)) return `it has the data of ${renamed.volume}`
  const mayBe = (one: WantedVolume) =>
    isNamedLike(volume, one.volume) || (!one.forthcoming && isLike(one, volume, volumes))
  const lost = desired.find((one) => isLost(one) && mayBe(one))
  const missing = renamed ?? lost
  return missing && `it may be the only copy of ${missing.volume}, which is missing: keep it until that is there again`
}

/** Whether the names differ only in what operations put at their ends. */
export const isNamedLike = (one: string, other: string): boolean => stem(one) === stem(other)

/** The name without what operations put at its end. */
const stem = (volume: string): string => {
  const name = volume.replace(REPLACED, '')
  return META.test(name) ? name : name.replace(DATA, '')
}

/** As large as the disk, and in its group. LVM rounds sizes up. */
function isLike({ volume: desired, size_mib }: WantedVolume, volume: string, volumes: NodeImage['volumes']): boolean {
  const size = volumes?.get(volume)
  const [group, other] = [desired, volume].map((name) => name.split('/')[0])
  return !META.test(desired) && group === other && size !== undefined && size >= size_mib && size < 2 * size_mib
}
