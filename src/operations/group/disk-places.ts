// Some disk parameters say where disks are, such as the pool of Ceph. Disks do not move when such a parameter changes: their nodes then look
// for them elsewhere, find nothing, and even remove nothing.
import { fillDiskParams } from '../../config/filled'
import { instanceDisks } from '../../config/lookup'
import { recordValues } from '../../config/records'
import type { ConfigData, Disk, Instance } from '../../model/config'
import { niceSort } from '../../model/nice-sort'
import { factsOf } from '../../model/templates'
import type { UnitContext } from '../unit-context'

/** Names the instances whose disks would be looked for elsewhere, for each parameter that changes. */
export function warnOfLostPlaces(ctx: UnitContext, before: ConfigData, after: Partial<ConfigData>): void {
  const moved = new Map<string, Set<string>>()
  for (const instance of recordValues(before.instances))
    for (const disk of instanceDisks(before, instance))
      for (const change of changedPlaces(before, { ...before, ...after }, instance, disk))
        moved.set(change, (moved.get(change) ?? new Set()).add(instance.name))
  for (const [change, instances] of moved)
    ctx.log.warning(
      `${change}, and the disks of these instances do not move with it: ${niceSort([...instances]).join(', ')}`,
      'unless both are the same storage, move their data there before you start or remove them, or change the parameter back',
    )
}

function changedPlaces(before: ConfigData, after: ConfigData, instance: Instance, disk: Disk): string[] {
  const { dev_type: template } = disk
  const paramsOf = ({ cluster, nodes, nodegroups }: ConfigData) =>
    fillDiskParams(cluster, nodegroups[nodes[instance.primary_node]?.group ?? ''], template)
  const [old, now] = [paramsOf(before), paramsOf(after)]
  return (factsOf(template).places ?? []).flatMap((name) =>
    old[name] === now[name]
      ? []
      : [`The disk parameter ${template}:${name} changes from '${String(old[name])}' to '${String(now[name])}'`],
  )
}
