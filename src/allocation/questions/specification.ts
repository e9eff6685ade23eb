// A new instance, from the sizes in a user's question.
import type { InstanceSpecification } from '../../model/allocation'
import { NO_NODE, nodesNeeded, spindlesOf } from '../model/cluster-data'
import { diskSpace, templateOf } from '../sources/from-config'
import type { NewInstance } from '../model/requests'
import { type DiskTemplate, takesCounted } from '../../model/templates'

/** `counted`: the template whose storage is in the cluster data; `networks` by uuid. */
export function specifiedInstance(
  spec: InstanceSpecification,
  counted: DiskTemplate,
  networks: readonly string[],
  group?: string,
): NewInstance {
  const template = templateOf(spec.disk_template)
  const disks = (spec.disks_mib ?? []).map((size, at) => ({ size, spindles: spec.disks_spindles?.[at] }))
  const data = {
    ...{ name: 'new', memory: spec.memory_mib, vcpus: spec.vcpus, disks, disk: diskSpace(template, disks) },
    ...{ status: 'running', autoBalance: true, primary: NO_NODE, secondary: NO_NODE, template },
    ...{
      tags: spec.tags ?? [],
      spindleUse: spec.spindle_use ?? 1,
      spindles: spindlesOf(disks),
      forthcoming: false,
      networks,
    },
    local: takesCounted(template, counted),
  }
  return { data, requiredNodes: nodesNeeded(template), group }
}
