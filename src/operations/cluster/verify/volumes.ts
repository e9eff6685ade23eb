// Logical volumes that are missing or have no owner, with the remedy: an interrupted operation may have left an
// instance's data under another name.
import { instanceDisks, instanceNodes, instanceOfDisk, logicalVolumes } from '../../../config/lookup'
import { recordValues } from '../../../config/records'
import type { ConfigData, Disk, Instance } from '../../../model/config'
import { allSnapshots } from '../../../model/snapshots'
import { diskIdOf, isMirrored } from '../../../model/templates'
import { compileRegex } from '../../../query/regex'
import { DATA, REPLACED } from '../../instance/disks/volume-names'
import type { GroupState, NodeImage } from './group-state'
import type { VerifyReport } from './report'
import { volumeGroupOf } from './request'

export function verifyMissingVolumes(report: VerifyReport, { config, images }: GroupState, instance: Instance): void {
  const wanted = volumeGroupOf(config.cluster)
  const disks = wanted === undefined ? [] : instanceDisks(config, instance)
  const should = disks.flatMap((disk) => {
    const nodes: readonly string[] = !isMirrored(disk.dev_type)
      ? [instance.primary_node]
      : instanceNodes(config, instance)
    return logicalVolumes(disk).map(([vg, lv]) => ({ vg, lv, nodes }))
  })
  if (should.length === 0) return
  for (const { node, volumes } of images)
    for (const { vg, lv, nodes } of should) {
      if (vg !== wanted || !nodes.includes(node.uuid) || volumes?.has(`${vg}/${lv}`) !== false) continue
      const side = node.uuid === instance.primary_node ? '-p' : '-s'
      const todo = wayBack({ vg, lv, volumes }, `'gnt-instance replace-disks ${side} ${instance.name}'`)
      const text = `volume ${vg}/${lv} missing on node ${node.name}${todo}`
      report.error('EINSTANCEMISSINGDISK', instance.name, text)
    }
}

interface Missing {
  readonly vg: string
  readonly lv: string
  readonly volumes: ReadonlySet<string>
}

function wayBack({ vg, lv, volumes }: Missing, anew: string): string {
  const data = `${lv}_data`
  if (volumes.has(`${vg}/${data}`))
    return `; a conversion that did not end has renamed it: 'lvrename ${vg} ${data} ${lv}' gives it its name back there`
  const replaced = [...volumes].some((name) => name.replace(REPLACED, '') === `${vg}/${lv}`)
  return replaced ? `; a replacement of disks that did not end has renamed it: ${anew} makes that side anew` : ''
}

export function verifyOrphanVolumes(report: VerifyReport, { config, images, snapshots }: GroupState): void {
  const wanted = volumeGroupOf(config.cluster)
  if (wanted === undefined) return
  const reserved = config.cluster.reserved_lvs.map((pattern) => compileRegex(`^(?:${pattern})$`))
  const owned = ownedVolumes(config)
  const noted = allSnapshots(snapshots).filter(({ dev_type }) => diskIdOf(dev_type) === 'volume')
  for (const { node, volumes = new Set<string>() } of images) {
    const here = noted.filter((one) => one.node === null || one.node === node.uuid)
    const own = new Set([...(owned.get(node.uuid) ?? []), ...here.map(({ logical_id: [vg, lv] }) => `${vg}/${lv}`)])
    for (const volume of volumes) {
      const known = own.has(volume) || reserved.some((pattern) => pattern.test(volume))
      if (!volume.startsWith(`${wanted}/`) || known) continue
      const origin = volume.replace(DATA, '')
      const todo =
        origin !== volume && own.has(origin) && !volumes.has(origin)
          ? `it has the data of ${origin}`
          : `if nobody needs it, remove it there with 'lvremove ${volume}'`
      report.error('ENODEORPHANLV', node.name, `volume ${volume} is unknown; ${todo}`, 'WARNING')
    }
  }
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
