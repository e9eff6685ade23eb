// Asks scripts the questions that Ganeti does not have. Converts their answers to the built-in allocator's form.
import type { Asked } from '../../allocation/questions/asked'
import type { BalanceAnswer, BalanceQuestion } from '../../allocation/questions/balance-plan'
import type { CapacityQuestion } from '../../allocation/questions/capacity'
import { BadClusterData } from '../../allocation/model/cluster-data'
import { buildModel } from '../../allocation/model/cluster-model'
import { diskSpace, templateOf } from '../../allocation/sources/from-config'
import { replay } from '../../allocation/questions/replay'
import type { Capacity, GroupCapacity, InstanceSpecification } from '../../model/allocation'
import type { ConfigData } from '../../model/config'
import { ResultValidationError } from '../../model/errors'
import { clusterPicture } from '../plan/picture'
import type { UnitContext } from '../unit-context'
import { askScript } from './ask'
import { placesOf, relocationsOf } from './results'

/** `byGroup`: the caller has named groups, so each is asked for separately. */
export async function balanceByScript(
  ctx: UnitContext,
  script: string,
  config: ConfigData,
  { template, question }: Asked<BalanceQuestion>,
  byGroup: boolean,
): Promise<BalanceAnswer> {
  const what = 'balance'
  const relocations = []
  for (const group_name of byGroup ? question.groups : [undefined]) {
    const request = { type: what, max_moves: question.maxMoves, ...(group_name !== undefined && { group_name }) }
    relocations.push(...relocationsOf((await askScript(ctx, script, { what, request, templates: [template] })).result))
  }
  const { data } = await clusterPicture(ctx.env.nodes, config, template)
  try {
    return replay(buildModel(data), relocations, question)
  } catch (error) {
    if (!(error instanceof BadClusterData)) throw error
    throw new ResultValidationError(`iallocator returned invalid result: ${error.message}`)
  }
}

/** Each group is asked for as if the others stayed unchanged. */
export async function capacityByScript(
  ctx: UnitContext,
  script: string,
  { nodegroups }: ConfigData,
  { template, question }: Asked<CapacityQuestion>,
  spec: InstanceSpecification,
): Promise<Capacity> {
  const groups: GroupCapacity[] = []
  for (const group_name of question.groups) {
    const request = { type: 'capacity', ...specified(question, spec), group_name }
    const { info, result } = await askScript(ctx, script, { what: 'capacity', request, templates: [template] })
    const nodes = placesOf(result, question.instance.requiredNodes).map((names) => [...names])
    const { alloc_policy = '' } = Object.values(nodegroups).find(({ name }) => name === group_name) ?? {}
    const reason = nodes.length < (question.most ?? Infinity) ? info : null
    groups.push({ group: group_name, alloc_policy, fits: nodes.length, nodes, reason, candidates: null })
  }
  return { fits: groups.reduce((sum, { fits }) => sum + fits, 0), groups }
}

/** In the words of the allocator protocol. */
function specified({ instance, most }: CapacityQuestion, spec: InstanceSpecification) {
  const { disk_template, memory_mib, vcpus, disks_mib = [], disks_spindles, spindle_use = 1, tags = [] } = spec
  const disks = disks_mib.map((size, at) => {
    const spindles = disks_spindles?.[at]
    return { size, mode: 'rw', dev_type: disk_template, ...(spindles !== undefined && { spindles }) }
  })
  return {
    ...{ name: instance.data.name, disk_template, memory: memory_mib, vcpus, spindle_use, tags, os: '' },
    ...{ disks, disk_space_total: diskSpace(templateOf(disk_template), disks) },
    nics: (instance.data.networks ?? []).map((network) => ({ network })),
    ...{ required_nodes: instance.requiredNodes, hypervisor: null },
    ...(most !== null && { max_instances: most }),
  }
}
