// Two questions beyond Ganeti's protocol: which moves would balance the cluster, and how many instances fit.
import type { AllocOptions } from '../model/options'
import { BALANCE_DEFAULTS, names, planBalanceSteps } from './balance-plan'
import { groupByName } from '../places/choose-group'
import { NO_NODE } from '../model/cluster-data'
import type { ClusterModel } from '../model/cluster-model'
import { failText } from '../model/fail-modes'
import { Filling } from '../places/filling'
import type { NewInstance } from '../model/requests'

interface Planned {
  readonly info: string
  readonly result: unknown
}

/** `[instance, nodes before, nodes after]` in order, at most `maxMoves` (below 0: no limit). */
export function planBalance(
  model: ClusterModel,
  maxMoves: number,
  group: string | undefined,
  { ignoreSoftErrors }: AllocOptions,
): Planned {
  if (group !== undefined) groupByName(model, group)
  const groups = model.data.groups.flatMap(({ name }) => (group === undefined || name === group ? [name] : []))
  const most = maxMoves < 0 ? Infinity : maxMoves
  const question = { ...BALANCE_DEFAULTS, groups, maxMoves: most, maxOpcodes: Infinity }
  const { steps } = planBalanceSteps(model, question, ignoreSoftErrors)
  return { info: `${steps.length} moves`, result: steps.map(({ instance, from, to }) => [instance, from, to]) }
}

/** The nodes of each instance that fits, in order; at most `most` (below 0: no limit). */
export function planCapacity(
  model: ClusterModel,
  { data, group }: NewInstance,
  most: number,
  options: AllocOptions,
): Planned {
  const only = group === undefined ? undefined : groupByName(model, group)
  const all = model.nodes.map((_, at) => at)
  const nodes = all.filter((node) => {
    const facts = model.nodes[node]
    if (facts === undefined || facts.offline) return false
    if (only !== undefined) return facts.data.group === only
    return model.data.groups[facts.data.group]?.allocPolicy !== 'unallocable'
  })
  const { added, failures } = new Filling(model, nodes, all, options).fill(data, most < 0 ? undefined : most)
  const places = added.map((at) => names(model, model.primary[at] ?? NO_NODE, model.secondary[at] ?? NO_NODE))
  return { info: `${added.length} instances fit; the next one: ${failText(failures)}`, result: [added.length, places] }
}
