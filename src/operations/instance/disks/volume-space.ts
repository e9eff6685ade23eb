// Checks that volume groups have room for the volumes of new disks.
import { fillNdParams } from '../../../config/filled'
import type { ConfigData, Disk, Node } from '../../../model/config'
import { ECODE, OpPrereqError } from '../../../model/errors'
import { diskIdOf } from '../../../model/templates'
import type { UnitContext } from '../../unit-context'

const MORE_ROOM = 'remove what is not needed there, extend the group with vgextend, or choose another node'

/** MiB by volume group. */
export type VolumeNeeds = ReadonlyMap<string, number>

export function volumeNeeds(disks: readonly Disk[]): VolumeNeeds {
  const needs = new Map<string, number>()
  const add = (disk: Disk): void => {
    const vg = String(disk.logical_id[0])
    if (diskIdOf(disk.dev_type) === 'volume') needs.set(vg, (needs.get(vg) ?? 0) + disk.size)
    disk.children.forEach(add)
  }
  disks.forEach(add)
  return needs
}

/** Refuses volumes for which a node lacks room, and volume groups that it does not have. */
export async function checkVolumeSpace(
  ctx: UnitContext,
  config: ConfigData,
  nodes: readonly Node[],
  needs: VolumeNeeds,
): Promise<void> {
  for (const [vg, needed_mib] of needs) {
    const results = await ctx.nodes.many(nodes, 'node_info', (target) => {
      const node = nodes.find(({ uuid }) => uuid === target.uuid)
      const exclusive = node !== undefined && fillNdParams(config, node).exclusive_storage
      return [[['lvm-vg', vg, [exclusive]] as const], []]
    })
    for (const node of nodes) {
      const result = results.get(node.uuid)
      if (result?.ok !== true)
        throw new OpPrereqError(
          `Cannot get current information from node ${node.name}: ${result?.error ?? 'no answer'}`,
          ECODE.ENVIRON,
        )
      const free_mib = result.payload[1]?.[0]?.storage_free
      if (typeof free_mib !== 'number')
        throw new OpPrereqError(
          `Can't compute free disk space on node ${node.name} for vg ${vg}: if "vgs" does not list that volume group there, make it with ` +
            'vgcreate, or name another group or another node',
          ECODE.ENVIRON,
        )
      if (needed_mib > free_mib)
        throw new OpPrereqError(
          `Not enough disk space on target node ${node.name} vg ${vg}: required ${needed_mib} MiB, available ${free_mib} MiB; ${MORE_ROOM}`,
          ECODE.NORES,
        )
    }
  }
}
